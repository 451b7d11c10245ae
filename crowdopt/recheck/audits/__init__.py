"""Audits of answers checked a second time."""
