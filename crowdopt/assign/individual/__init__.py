"""Tasks that are not alike: prices for workers' time, and for each task its own cheapest set of labels."""
