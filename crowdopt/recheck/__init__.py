"""The second opinion: plan folders and bounds recomputed by code that shares nothing with the methods."""
