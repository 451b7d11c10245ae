"""Synthetic instances, each fixed by a name and a seed."""
