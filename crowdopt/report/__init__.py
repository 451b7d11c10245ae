"""Tables and charts for readers: renders, computes nothing."""
