"""Tasks that are hard for all workers: what is left of skill on them, and how many there are."""
