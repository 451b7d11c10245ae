"""What the rows of a benchmark come to: statistics, scores, sentences."""
