"""Adaptive plans: whom to ask after which votes, the cheapest way, with its proof."""
