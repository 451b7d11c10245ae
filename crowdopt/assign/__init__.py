"""Methods with full knowledge of the crowd. They receive ``solve`` and never import a solver."""
