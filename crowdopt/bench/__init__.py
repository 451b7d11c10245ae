"""Solvers side by side, each in a process of its own within limits, and nobody's word believed unchecked."""
