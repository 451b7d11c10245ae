"""Candidates for hiring: their estimates, gains and scores."""
