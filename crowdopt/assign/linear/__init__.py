"""Shares of labels: the linear program over classes, or task by task where tasks are not alike."""
