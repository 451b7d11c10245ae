"""The methods that plan and prove: which stages they try, in which order, and what becomes of the best plan."""
