"""The mathematics in models/: reading it, and exact answers to hold it against."""
