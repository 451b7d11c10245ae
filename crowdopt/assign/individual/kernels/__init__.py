"""Compiled loops over tasks that are not alike (numba, cached on disk), loaded only where they run."""
