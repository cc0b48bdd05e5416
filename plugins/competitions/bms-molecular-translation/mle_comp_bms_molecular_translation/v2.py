"""Edition v2: the extra InChIs are none of the test images', and a prediction is a text."""

from __future__ import annotations

from pathlib import Path

import mle_comp_bms_molecular_translation as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import read_pieces, read_table, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    (public / v1.EXTRA).unlink()
    answers = read_table(private / "test.csv")["InChI"]
    extra = read_pieces(raw / v1.EXTRA)
    known = answers.implode()
    write_csv((piece.filter(~piece["InChI"].is_in(known).fill_null(False)) for piece in extra), public / v1.EXTRA)
