"""What labels alone tell of workers and tasks: skills on a grid, messages, the crowd's prior, whom to keep."""
