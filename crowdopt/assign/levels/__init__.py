"""Workers of like evidence counted as one: the blocks' bound, and plans, where workers are too many for a master."""
