"""The calls, a file for each verb: they decide what the verb decides, and bind solvers to methods."""
