"""Campaigns with limits drawn together (tests/draw.py), planned, and every claim held against the checkers."""
