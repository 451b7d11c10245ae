"""What labels are worth together: evidence by rule, and exact errors of weighted votes."""
