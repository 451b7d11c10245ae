"""Tasks, workers, labels and what they are worth. Knows no program and no solver."""
