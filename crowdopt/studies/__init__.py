"""Seeded trials and what they sum up to, for workers who arrive and for tasks that arrive."""
