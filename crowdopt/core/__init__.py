"""Mathematical programs, what solvers say about them, and what is true of it.

Knows no crowd and no solver: everything here is arrays in, arrays out.
"""
