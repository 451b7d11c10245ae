"""Campaigns whose tasks lie in parts, and their plans."""
