"""Instances as explicit mathematical programs, one per file, each found by its PROGRAM constant."""
