"""The true minimum: programs over patterns of labels, generated as they are needed."""
