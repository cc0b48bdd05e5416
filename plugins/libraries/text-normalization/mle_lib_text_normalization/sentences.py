"""Tables of millions of tokens split by sentence: what pandas makes of them, in less time and memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from attrs import frozen

from mle_lib_text_normalization.quoted import Rows, Unlike, find_rows, header_line
from mlecore_toolkit.prepare.splits import split_positions
from mlecore_toolkit.prepare.threads import in_threads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen(eq=False)
class Piece:
    """What is remembered of some rows. A run is a stretch of them that belongs to one sentence."""

    bytes: int
    rows: NDArray[np.int32]  # where each begins
    runs: NDArray[np.intp]  # where each begins, and the end of the last
    lengths: NDArray[np.intp]  # rows of each run
    digits: NDArray[np.intp]  # of each run's sentence
    sentences: NDArray[np.int64]  # of each run
    hashes: NDArray[np.int64]  # of each run's tokens; none, if sentences of equal tokens may be parted


def write_pieces(
    found: Iterable[Rows],
    columns: Sequence[str],
    train: IO[bytes],
    test: IO[bytes],
    answers: IO[bytes],
    sample: IO[bytes],
    scratch: Path,
    together: bool = False,
) -> None:
    """Split the rows of columns sentence, token, class, before, after. Raises Unlike before anything is written.

    ``together``: sentences of equal tokens are on one side of the split.
    """
    with tempfile.TemporaryFile(dir=scratch) as texts:
        pieces = [_remembered(rows, texts, together) for rows in found]
        texts.seek(0)
        split = _split(pieces)
        sentence, token, _, before, after = columns
        train.write(header_line(columns))
        test.write(header_line([sentence, token, before]))
        for file in (answers, sample):
            file.write(header_line(["id", after]))
        work = ((texts.read(piece.bytes), piece, *new) for piece, new in zip(pieces, split, strict=True))
        for parts in in_threads(_parts, work):
            for file, part in zip((train, test, answers, sample), parts, strict=True):
                file.write(part)


def _remembered(rows: Rows, texts: IO[bytes], together: bool) -> Piece:
    import numpy as np

    texts.write(rows.text)
    runs = np.append(rows.runs(), len(rows))
    starts, commas = rows.starts[runs], rows.commas[runs[:-1]]
    return Piece(
        bytes=len(rows.text),
        rows=rows.starts[:-1].astype(np.int32),
        runs=starts,
        lengths=np.diff(runs),
        digits=commas - starts[:-1],
        sentences=np.array([int(rows.text[a:b]) for a, b in zip(starts.tolist(), commas.tolist(), strict=False)]),
        hashes=_hashes(rows) if together else np.array([], dtype=np.int64),
    )


def _hashes(rows: Rows) -> NDArray[np.int64]:
    """For each run the sum over its rows of a hash of place and token, so that a sentence may be cut anywhere."""
    import numpy as np

    spans = zip((rows.commas + 1).tolist(), rows.opening[:, 0].tolist(), rows.cells(1), strict=True)
    each = (hash(rows.text[start:end] + token) for start, end, token in spans)  # a hash of a tuple is nearly a sum
    return np.asarray(np.add.reduceat(np.fromiter(each, dtype=np.int64, count=len(rows)), rows.runs()))


def sentences_for_testing(count: int, tokens: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Which of the sentences, by first appearance, are for testing: a tenth.

    ``tokens`` tells sentences of equal tokens: all go where the first of them goes.
    """
    import numpy as np

    asked = np.zeros(count, dtype=bool)
    asked[split_positions(count, test_size=0.1)[1]] = True
    if tokens is None:
        return asked
    _, first, alike = np.unique(tokens, return_index=True, return_inverse=True)
    return np.asarray(asked[first][alike])


def _split(pieces: Sequence[Piece]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """For each run of each piece, the new number of its sentence, and whether that is one of the test."""
    import numpy as np

    sentences = np.concatenate([piece.sentences for piece in pieces])
    _, first, codes = np.unique(sentences, return_index=True, return_inverse=True)
    places = first.argsort().argsort()[codes]  # of each run's sentence, by first appearance
    hashes = np.concatenate([piece.hashes for piece in pieces])
    tokens = np.zeros(len(first), dtype=np.int64)  # of each sentence: the sum over its runs
    np.add.at(tokens, places[: len(hashes)], hashes)
    asked = sentences_for_testing(len(first), tokens if len(hashes) else None)
    numbers = (np.where(asked, asked.cumsum(), (~asked).cumsum()) - 1)[places]
    if (numbers >= 10 ** np.concatenate([piece.digits for piece in pieces])).any():
        raise Unlike  # no room for a new number in the place of the old one
    ends = np.cumsum([len(piece.sentences) for piece in pieces])[:-1]
    return zip(np.split(numbers, ends), np.split(asked[places], ends), strict=True)


def _parts(work: tuple[bytes, Piece, NDArray[np.int64], NDArray[np.bool_]]) -> tuple[bytes, bytes, bytes, bytes]:
    """A piece's lines in each of the tables."""
    text, piece, numbers, asked = work
    text = _renumbered(text, piece, numbers)
    runs = [text[start:end] for start, end in pairwise(piece.runs.tolist())]
    known, test = (b"".join(compress(runs, which)).translate(None, b"\0") for which in (~asked, asked))
    return known, *(_asked(test) if test else (b"", b"", b""))


def _renumbered(text: bytes, piece: Piece, numbers: NDArray[np.int64]) -> bytes:
    """The rows with new sentences, whose digits are followed by NULs where the old ones had more."""
    import numpy as np

    changed = bytearray(text)
    for digits in np.unique(piece.digits).tolist():
        here = piece.digits == digits
        places: Any = np.ndarray(len(text) - digits, dtype=f"S{digits}", buffer=changed, strides=1)  # from each byte on
        rows = piece.rows[here.repeat(piece.lengths)]
        places[rows] = numbers[here].astype(f"S{digits}").repeat(piece.lengths[here])
    return bytes(changed)


def _asked(text: bytes) -> tuple[bytes, bytes, bytes]:
    """Rows of the test as lines of the test table, the answers and the sample."""
    rows = find_rows(text, 3)
    spans = zip(rows.starts.tolist(), (rows.opening[:, 0] - 1).tolist(), strict=False)
    numbers = b"\n".join([text[start:end] for start, end in spans])
    ids = b'"' + numbers.replace(b",", b"_").replace(b"\n", b'"\n"') + b'"'
    before, after = rows.cells(1), rows.cells(2)
    return _lines(numbers.split(), before), _lines(ids.split(), after), _lines(ids.split(), before)


def _lines(*columns: Sequence[bytes]) -> bytes:
    return b"".join([line + b"\n" for line in map(b",".join, zip(*columns, strict=True))])
