"""The audit of answers: an expert looks at a random few, and what follows is true for any crowd."""
