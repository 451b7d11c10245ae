"""Campaigns that run: ask for the next task, tell the label; a history of events, from which all else follows."""
