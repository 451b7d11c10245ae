"""Synthetic instances that a name and a seed mean once and for all."""
