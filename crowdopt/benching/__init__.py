"""Solvers side by side, each in a process of its own within limits, and no answer believed unchecked."""
