"""Large tables of two whole numbers and quoted text a row, as bytes: what pandas would read, a piece at a time.

A fraction of the time that pandas takes to read one and to write it again, and memory for a few pieces. It is done only
for tables that are written as ``to_csv(quoting=QUOTE_NONNUMERIC)`` writes them: then each cell has one reading, and its
bytes are what pandas would write. Two doings of pandas are kept: words for missing values are missing, quoted or not,
and types are guessed a block of rows at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from attrs import frozen

from mlecore_toolkit.prepare.threads import in_threads
from mlecore_toolkit.prepare.zips import open_member

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Positions = NDArray[np.intp]

_PIECE = 1 << 19  # bytes; what numpy makes of them stays in the processor's cache
_HEAD = 1000  # rows of a block, among which a cell is looked for that is no number
_DIGITS = 8  # that the first number may have: so many bytes are compared at once

# read as missing by pandas 2
_MISSING = {
    *(b"#N/A", b"#N/A N/A", b"#NA", b"-1.#IND", b"-1.#QNAN", b"-NaN", b"-nan", b"1.#IND", b"1.#QNAN", b"<NA>"),
    *(b"N/A", b"NA", b"NULL", b"NaN", b"None", b"n/a", b"nan", b"null"),
}
# no number, no truth value and no word for a missing value has one of these
_TEXT = re.compile(rb"(?i)[bcghkmpvwxz]|[\x80-\xff]")


class Unlike(Exception):
    """pandas might read it otherwise."""


@frozen(eq=False)
class Rows:
    """Whole rows of a table, and where in their text things lie. NULs in the text stand for nothing."""

    text: bytes
    starts: Positions  # of each row, and the end of the last
    commas: Positions  # after the first number of each row
    opening: Positions  # (rows, texts): the quote before each text
    closing: Positions  # (rows, texts): the quote after it

    def __len__(self) -> int:
        return len(self.commas)

    def cells(self, column: int, rows: slice = slice(None)) -> list[bytes]:
        """A column of text with its quotes, the first one being 0."""
        spans = zip(self.opening[rows, column].tolist(), self.closing[rows, column].tolist(), strict=True)
        return [self.text[start : end + 1] for start, end in spans]

    def runs(self) -> Positions:
        """The first row of each stretch of rows whose first numbers are the same."""
        import numpy as np

        words: Any = np.ndarray(len(self.text) - 7, dtype="<u8", buffer=self.text, strides=1)  # from each byte on
        width = (self.commas - self.starts[:-1]).astype(np.uint64)
        numbers = words[self.starts[:-1]] << 8 * (_DIGITS - width)  # what comes after the digits is shifted out
        return np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))


def quoted_rows(archive: Path, member: str, header: Sequence[str], *, verbatim: bool = False) -> Iterator[Rows]:
    """A table inside a zip, some rows at a time; its columns are two whole numbers, then text.

    ``verbatim``: no word is a missing value, and no column of text is numbers.

    Raises Unlike, at the latest after the last rows, if ``pandas.read_csv`` might find something else in the table
    (another header, other quotes, a column of text that is numbers in some block of rows): then read it with pandas.
    """
    texts = range(len(header) - 2)
    # pandas guesses types of this many rows at a time (TextReader of pandas 2: the largest power of two below)
    block = 1 << ((1 << 20) // len(header) - 1).bit_length() - 1
    count, certain = 0, set[tuple[int, int]]()
    with open_member(archive, member) as stream:
        if stream.readline() != header_line(header):
            raise Unlike
        for rows in in_threads(partial(_checked, texts=len(texts), verbatim=verbatim), _whole_records(stream)):
            for number in () if verbatim else {count // block, (count + len(rows) - 1) // block}:
                head = slice(max(0, number * block - count), max(0, number * block + _HEAD - count))
                certain.update((number, text) for text in texts if any(map(_TEXT.search, rows.cells(text, head))))
            count += len(rows)
            yield rows
    if count == 0 or (not verbatim and len(certain) < len(texts) * -(-count // block)):
        raise Unlike


def header_line(columns: Sequence[str]) -> bytes:
    return (",".join(f'"{column}"' for column in columns) + "\n").encode()


def _checked(text: bytes, texts: int, verbatim: bool) -> Rows:
    if b"\0" in text:  # pandas ends a cell there
        raise Unlike
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Unlike from None
    rows = find_rows(text, texts)
    return rows if verbatim else Rows(_without_missing(rows), rows.starts, rows.commas, rows.opening, rows.closing)


def find_rows(text: bytes, texts: int) -> Rows:
    """The rows of a text. Raises Unlike if any byte is not as pandas writes it."""
    import numpy as np

    codes = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(codes == ord('"'))
    if not text.endswith(b"\n") or len(quotes) == 0 or len(quotes) % 2:
        raise Unlike
    opening, closing = quotes[::2], quotes[1::2]
    apart = np.flatnonzero(opening[1:] != closing[:-1] + 1)  # else it is a quote in a text, written as two
    opening, closing = opening[np.append(0, apart + 1)], closing[np.append(apart, len(closing) - 1)]
    if len(opening) % texts:
        raise Unlike
    opening, closing = opening.reshape(-1, texts), closing.reshape(-1, texts)
    starts = np.append(0, closing[:, -1] + 2)
    commas = _before_digits(codes, opening[:, 0] - 2)
    first, second = commas - starts[:-1], opening[:, 0] - 2 - commas  # digits of the numbers
    regular = (
        starts[-1] == len(text),
        (codes[starts[1:] - 1] == ord("\n")).all(),
        (opening[:, 1:] == closing[:, :-1] + 2).all(),
        (codes[closing[:, :-1] + 1] == ord(",")).all(),
        (codes[opening[:, 0] - 1] == ord(",")).all(),
        (codes[commas] == ord(",")).all(),
        (_before_digits(codes, commas - 1) == starts[:-1] - 1).all(),
        ((first > 0) & (first <= _DIGITS) & (second > 0) & (second < 19)).all(),
        ((codes[starts[:-1]] != ord("0")) | (first == 1)).all(),
        ((codes[commas + 1] != ord("0")) | (second == 1)).all(),
    )
    if not all(regular):
        raise Unlike
    return Rows(text, starts, commas, opening, closing)


def _before_digits(codes: NDArray[np.uint8], last: Positions) -> Positions:
    """The place before the digits that end at ``last``."""
    while (digit := codes[last] - ord("0") < 10).any():
        last = last - digit
    return last


def _without_missing(rows: Rows) -> bytes:
    """The text with NULs for words that are missing values."""
    import numpy as np

    codes = np.frombuffer(rows.text, dtype=np.uint8)
    opening, closing = rows.opening.ravel(), rows.closing.ravel()
    first, last = np.zeros((2, 256), dtype=bool)
    first[[word[0] for word in _MISSING]] = last[[word[-1] for word in _MISSING]] = True
    likely = np.flatnonzero(first[codes[opening + 1]] & last[codes[closing - 1]] & (closing - opening < 10))
    text = bytearray(rows.text)
    for start, end in zip((opening[likely] + 1).tolist(), closing[likely].tolist(), strict=True):
        if rows.text[start:end] in _MISSING:
            text[start:end] = bytes(end - start)
    return bytes(text)


def _whole_records(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream in pieces that end where a record does: at a line's end outside of quotes."""
    rest = b""
    while read := stream.read(_PIECE):
        block = rest + read
        end, odd = len(block), block.count(b'"') % 2  # odd: its end is inside of quotes
        while end and (odd or block[end - 1 : end] != b"\n"):
            start = block.rfind(b"\n", 0, end - 1) + 1
            odd ^= block.count(b'"', start, end) % 2
            end = start
        if end:
            yield block[:end]
        rest = block[end:]
    if rest:
        yield rest
