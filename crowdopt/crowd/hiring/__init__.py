"""Whom could be hired: estimates, gains and scores of candidates."""
