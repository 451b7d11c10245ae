"""Policies that decide as workers arrive, and what they are held against."""
