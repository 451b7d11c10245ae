"""Laws of votes: how workers err together, learned from gold that several of them answered."""
