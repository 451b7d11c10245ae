"""Campaigns with features drawn together, each with a plan that is known beforehand, and a checker of its own."""
