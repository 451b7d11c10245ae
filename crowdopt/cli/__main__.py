"""``python -m crowdopt.cli``."""

from crowdopt.cli import main

main()
