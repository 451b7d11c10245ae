"""One policy per file, each ending in ``POLICY``; third parties register under the entry point of this name."""
