"""Edition v2: the records of the test part do not hold the label."""

from __future__ import annotations

from pathlib import Path

import mle_comp_cassava_leaf_disease_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit.prepare.tfrecords import read_tfrecords, without, write_tfrecords


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    for path in sorted((public / "test_tfrecords").iterdir()):
        source = path.rename(path.with_suffix(".partial"))
        with write_tfrecords(path) as write:
            for _, message in read_tfrecords(source, "image_name"):
                write(without(message, {"target"}))
        source.unlink()
