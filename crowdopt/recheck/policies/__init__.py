"""Adaptive plans checked a second time: laws, recursions and passes of its own."""
