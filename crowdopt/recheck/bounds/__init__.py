"""Bounds proven a second time, each by an algorithm of its own."""
