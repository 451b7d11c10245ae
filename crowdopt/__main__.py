"""``python -m crowdopt``: the command line."""

from crowdopt.cli import main

main(prog_name="crowdopt")
