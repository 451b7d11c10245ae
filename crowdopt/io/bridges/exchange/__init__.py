"""What every bridge rests on: annotations and rounds in one shape, folders, addresses, HTTP."""
