"""Programs as objects of other modelling libraries, and their answers back: one library per file."""
