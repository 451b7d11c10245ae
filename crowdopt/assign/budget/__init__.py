"""A sum of labels or money to spend: the least expected number of wrong answers, or the best promise to every task."""
