"""Programs as files: MPS, LP, GNU MathProg."""
