"""The tables of millions of tokens, a piece at a time: what pandas makes of them, in less time and memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mlecore.prepare import split_positions

if TYPE_CHECKING:
    from polars import DataFrame


def write_pieces(
    pieces: Sequence[Path], train: IO[bytes], test: IO[bytes], answers: IO[bytes], sample: IO[bytes]
) -> None:
    import numpy as np
    import polars as pl

    sentences = pl.concat([pl.read_ipc(piece, columns=["sentence_id"]) for piece in pieces])["sentence_id"]
    sentences = sentences.unique(maintain_order=True)
    asked = np.zeros(len(sentences), dtype=bool)
    asked[split_positions(len(sentences), test_size=0.1)[1]] = True
    numbers = np.where(asked, asked.cumsum(), (~asked).cumsum()) - 1
    for number, piece in enumerate(pieces):
        rows = pl.read_ipc(piece)
        runs = rows["sentence_id"].rle().struct.unnest()  # few: a sentence's rows mostly stand together
        places = runs["value"].replace_strict(sentences, np.arange(len(sentences))).to_numpy().repeat(runs["len"])
        rows = rows.with_columns(
            pl.Series("sentence_id", numbers[places]),
            id=pl.format("{}_{}", pl.Series(numbers[places]), "token_id"),
        )
        tested = rows.filter(asked[places])
        _append(rows.filter(~asked[places]).drop("id"), train, number)
        _append(tested.select("sentence_id", "token_id", "before"), test, number)
        _append(tested.select("id", "after"), answers, number)
        _append(tested.select("id", after="before"), sample, number)


def _append(rows: DataFrame, file: IO[bytes], number: int) -> None:
    if number == 0:  # polars leaves the header bare
        file.write((",".join(f'"{column}"' for column in rows.columns) + "\n").encode())
    rows.write_csv(file, include_header=False, quote_style="non_numeric")
