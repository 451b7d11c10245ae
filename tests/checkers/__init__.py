"""Checkers that share nothing with the package: of plans, of folders of plans, and exact optima in rationals."""
