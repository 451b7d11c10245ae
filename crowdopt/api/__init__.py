"""The calls: a file for each verb. Here solvers are bound to methods, and whatever a verb decides is decided."""
