"""Plans from sets of labels: what is of one task is an oracle's, what ties tasks together is a master's rows."""
