"""Hundreds of odd submissions from one good one: cells, ids, rows and columns as agents get them wrong."""

import csv
import io
import random
from collections.abc import Iterator, Sequence

WORDS = """
    0 1 2 3 0.5 1.0 2.0 -1 1e-3 1e30 1e400 -1e400 inf -inf Infinity nan NaN NA null None N/A #N/A - True False true
    FALSE tRUE yes word 1_0 +1 007 0x10 0,5 1,000 ٣ 9223372036854775807 9223372036854775808 18446744073709551615
    18446744073709551616 -9223372036854775808 -9223372036854775809 99999999999999999999 -99999999999999999999
    1.0000000000000002 0.9999999999999999 1e19 .5 5. 1e 1d5 ∞ 50%
"""
CELLS = (*WORDS.split(), "", " ", " 1", "1 ", " True", 'say "x"', "a,b", "two\nlines", "\t", "\xa01")


def mutations(sample: str, seed: int, count: int, odd: Sequence[str] = ()) -> Iterator[str]:
    """``count`` texts; the first is the sample itself."""
    header, *rows = list(csv.reader(io.StringIO(sample)))
    yield sample
    rng = random.Random(seed)
    pool = [*CELLS, *odd, *odd]
    for _ in range(count - 1):
        names, table = list(header), [list(row) for row in rows]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            rng.choice(_CHANGES)(rng, names, table, pool)
        yield _write(rng, names, table)


def _write(rng: random.Random, names: list[str], table: list[list[str]]) -> str:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.1 else csv.QUOTE_MINIMAL
    end = "\r\n" if rng.random() < 0.1 else "\n"
    csv.writer(out, lineterminator=end, quoting=quoting).writerows([names, *table])
    text = out.getvalue()
    return text.rstrip("\r\n") if rng.random() < 0.1 else text


def _cell(rng, names, table, pool):
    if table and names:
        row = rng.choice(table)
        row[rng.randrange(len(row))] = rng.choice(pool)


def _value(rng, names, table, pool):
    if table and len(table[0]) > 1:
        rng.choice(table)[-1] = rng.choice(pool)


def _column(rng, names, table, pool):
    """One whole column of one odd cell, or of a few."""
    if not table:
        return
    place, some = rng.randrange(len(table[0])), rng.sample(pool, rng.choice([1, 1, 2, 3]))
    for row in table:
        if place < len(row):
            row[place] = rng.choice(some)


def _values(rng, names, table, pool):
    some = rng.sample(pool, rng.choice([1, 2, 2, 3]))
    for row in table:
        row[-1] = rng.choice(some)


def _shuffle(rng, names, table, pool):
    rng.shuffle(table)


def _drop_row(rng, names, table, pool):
    if table:
        table.pop(rng.randrange(len(table)))


def _add_row(rng, names, table, pool):
    if table:
        table.insert(rng.randrange(len(table) + 1), list(rng.choice(table)))


def _copy_id(rng, names, table, pool):
    if len(table) > 1:
        first, second = rng.sample(table, 2)
        first[0] = second[0]


def _write_ids(rng, names, table, pool):
    write = rng.choice([lambda i: f"{i}.0", lambda i: f"0{i}", lambda i: f" {i}", lambda i: f"{i} ", str.upper])
    for row in table:
        row[0] = write(row[0])


def _extra(rng, names, table, pool):
    names.append(rng.choice(["extra", names[-1], names[0], ""]))
    for row in table:
        row.append(rng.choice(pool))


def _lose_column(rng, names, table, pool):
    if len(names) > 1:
        place = rng.randrange(len(names))
        names.pop(place)
        for row in table:
            if place < len(row) > 1:
                row.pop(place)


def _rename(rng, names, table, pool):
    place = rng.randrange(len(names))
    names[place] = rng.choice([names[place].upper(), f" {names[place]}", "other"])


def _swap(rng, names, table, pool):
    if all(len(row) == len(names) for row in table):
        order = rng.sample(range(len(names)), len(names))
        names[:] = [names[k] for k in order]
        for row in table:
            row[:] = [row[k] for k in order]


def _ragged(rng, names, table, pool):
    if table:
        row = rng.choice(table)
        rng.choice([lambda: row.append("1"), row.clear, lambda: row.pop() if len(row) > 1 else None])()
        if not row:
            row.append("")


def _comma_at_the_end(rng, names, table, pool):
    for row in table:
        row.append("")


def _empty(rng, names, table, pool):
    table.clear()


_CHANGES = (
    *[_cell] * 3,
    *[_value] * 6,
    *[_values] * 6,
    _column,
    *[_shuffle] * 2,
    _drop_row,
    _add_row,
    _copy_id,
    _write_ids,
    _extra,
    _lose_column,
    _rename,
    _swap,
    _ragged,
    _comma_at_the_end,
    _empty,
)
