"""`python -m mlecore.cli` is `mlecore`."""

from mlecore.cli import main

main(prog_name="mlecore")
