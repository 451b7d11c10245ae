"""A plan folder: what to do, what it rests on, and the numbers that prove it."""
