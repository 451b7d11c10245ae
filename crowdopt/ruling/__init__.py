"""Rules of thumb that people type: what they cost and err, exactly, what would do better, and as tools know them."""
