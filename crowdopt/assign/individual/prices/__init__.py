"""Tasks of which each has evidence of its own: their arrays, sweeps over all of them at prices, and the prices."""
