"""Readers and writers, one format per file. Reading executes nothing; writing leaves a whole result or none."""
