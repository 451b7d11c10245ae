"""One row of a benchmark: a subject in a process of its own, watched, and its answer judged."""
