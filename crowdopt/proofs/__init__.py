"""Proofs in fractions, for a checker that others wrote: programs, points and bounds as files of the format VIPR.

The format: Cheung, Gleixner & Steffy 2017, "Verifying Integer Programming Results" (version 1.0 of its description).
"""
