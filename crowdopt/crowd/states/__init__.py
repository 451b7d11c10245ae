"""What a task can have been told: votes by asker, numbered."""
