"""Tests of crowdopt.io."""
