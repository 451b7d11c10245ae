"""Whom to hire: rankings with their proofs, the explicit program, and what more money would buy."""
