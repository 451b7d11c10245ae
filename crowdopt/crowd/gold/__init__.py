"""What gold says of workers: skills, confusion tables, errors that go together, gold that cannot be right."""
