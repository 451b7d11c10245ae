"""The audit of answers: an expert looks at a random few, and what follows is true for any crowd."""

METHODS = ("assisted", "sequential", "exact")
"""Best first; ``assisted`` needs a claimed error for each answer."""
