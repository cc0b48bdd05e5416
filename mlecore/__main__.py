"""`python -m mlecore` is `mlecore`."""

from mlecore.cli import main

main(prog_name="mlecore")
