"""Policies of asking, one per file: each ends in ``POLICY``; third parties use the entry-point group of this name."""
