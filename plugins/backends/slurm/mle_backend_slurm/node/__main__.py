"""The program of a Slurm job: run one task of an array, build an environment, or say what the node has."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


def main(what: str, *words: str) -> None:
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that what must be removed is; the supervisor has its own
    os.umask(0o077)
    if what == "run":
        from mle_backend_slurm.node.run import run

        root, batch = words
        run(Path(root), batch, int(os.environ["SLURM_ARRAY_TASK_ID"]))
    elif what == "build":
        from mle_backend_slurm.node.build import build

        build(Path(words[0]), Path(words[1]))
    else:
        from mle_backend_slurm.node.probe import probe

        probe(Path(words[0]), Path(words[1]))


main(*sys.argv[1:])
