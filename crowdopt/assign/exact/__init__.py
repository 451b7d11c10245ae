"""The exact method: aggregate, aim, round, split, repair, and say at every moment how good the plan provably is."""
