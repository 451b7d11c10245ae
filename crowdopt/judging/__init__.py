"""Whether a judge is any good: right on what, agreeing beyond chance with whom, and how many human labels say so."""
