"""``synthetic.py``: a generator by the schema of the raw table, with values of the training part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from mle_ext_own_data.draft import FILE, Draft
from mle_ext_own_data.writing.module import is_recoded, reading_options, schema_code
from mle_ext_own_data.writing.text import call, quoted
from mlecore_toolkit import ColumnSchema

if TYPE_CHECKING:
    import polars as pl

_ROWS, _FEWEST, _MOST = 600, 100, 5000  # of synthetic data at size 1
_MANY, _STRONG = 4, 0.8  # with fewer columns for each target, they say more of it, so that a model can learn it
_FORMATS = {".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF", ".bmp": "BMP"}
_WIDE = 1000  # columns, of more of which those of one kind are described alike, as a module has a limit of size
_VALUES = 12  # of a category that is no target, at most


def schema(draft: Draft, train: pl.DataFrame) -> list[ColumnSchema]:
    """The draft's columns. What the targets range over comes from the training part, so that it gives nothing away."""
    used = [each for each in draft.columns if each.name not in (*draft.targets, *draft.drop)]
    measured = [each.name for each in used if each.kind not in ("id", "file", "date")] or [each.name for each in used]
    strong = {*measured} if len(measured) < _MANY * len(draft.targets) else set()
    columns = [
        _target(draft, each, train) if each.name in draft.targets else _feature(each, strong=each.name in strong)
        for each in draft.columns
    ]
    if len(columns) <= _WIDE:
        return columns
    alike: dict[str, ColumnSchema] = {}
    own = {*draft.targets, draft.id, draft.group, draft.time}
    return [
        evolve(alike.setdefault(each.kind, each), name=each.name)
        if each.kind in ("number", "integer", "boolean") and each.name not in own
        else each
        for each in columns
    ]


def _feature(column: ColumnSchema, *, strong: bool = False) -> ColumnSchema:
    """Short enough to be read, and close enough for a test."""
    exact = column.kind == "integer"
    return evolve(
        column,
        signal=_STRONG if strong else column.signal,
        low=int(column.low) if column.kind == "id" and column.low is not None else column.low,
        quantiles=tuple(round(step) if exact else _short(step) for step in map(_short, column.quantiles)),
        values=column.values[:_VALUES],
        shares=tuple(round(share, 3) or 0.001 for share in column.shares[:_VALUES]),
    )


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _target(draft: Draft, column: ColumnSchema, train: pl.DataFrame) -> ColumnSchema:
    import polars as pl

    if draft.delimiter is not None:
        pairs = [f"{a}{draft.delimiter}{b}" for a, b in zip(draft.classes, draft.classes[1:], strict=False)]
        values: tuple[object, ...] = (*draft.classes, *pairs)
        return ColumnSchema(column.name, "category", values=values, target=True)
    if draft.classes and draft.task in ("binary", "multi-class", "ordinal"):
        counts = dict(train[column.name].value_counts().rows())
        if is_recoded(draft):
            counts = {label: counts.get("1" if label == draft.positive else "0", 0) for label in draft.classes}
        classes = [label for label in draft.classes if counts.get(label)] or [*draft.classes]
        values = tuple(int(label) if draft.numeric_classes else label for label in classes)
        shares = _raised([counts.get(label, 0) / len(train) for label in classes])
        return ColumnSchema(column.name, "category", values=values, shares=shares, target=True)
    numbers = train[column.name].cast(pl.Float64, strict=False).drop_nulls()
    kinds = {"number", "integer"}
    if column.kind in kinds and len(numbers):
        steps = [numbers.quantile(share, "nearest") for share in (0, 0.25, 0.5, 0.75, 1)]
        known = tuple(step for step in steps if step is not None)
        return _feature(ColumnSchema(column.name, column.kind, quantiles=known, decimals=column.decimals, target=True))
    order = sorted(range(len(column.values)), key=lambda place: column.values[place])  # so that it is a quantity
    values, shares = (tuple(part[place] for place in order if part) for part in (column.values, _raised(column.shares)))
    return evolve(column, target=True, signal=None, missing=0.0, values=values, shares=shares)


def _raised(shares: Sequence[float]) -> tuple[float, ...]:
    """Shares that give each value some rows of a few hundred, so that a model can learn the rare ones."""
    least = min(0.05, 0.5 / max(1, len(shares)))
    return tuple(round(max(share, least), 3) for share in shares)


def synthetic_code(draft: Draft, columns: list[ColumnSchema]) -> str:
    """``synthetic.py``."""
    groups = max((column.rows_each for column in columns), default=1)
    rows = round(min(_MOST, max(_ROWS, 8 * len(draft.classes), 12 * groups if groups > 1 else 0)))
    lines = [f"table = synthetic_table(SCHEMA, max({min(rows, _FEWEST)}, round({rows} * size)), seed)"]
    needs, heavy = {"ColumnSchema", "synthetic_table"}, list[str]()
    if draft.table is not None:
        options = reading_options(draft)
        writer = "write_cells" if options or draft.table.suffix.lower() != ".csv" else "write_csv"
        needs.add(writer)
        lines.append(call(f"{writer}(", ["table", f"raw / {quoted(draft.table.name)}", *options], ")"))
    if draft.files is not None:
        more, heavy, used = _files(draft)
        lines += more
        needs |= used
    imports = call("from mlecore_toolkit import ", sorted(needs, key=lambda name: (not name[0].isupper(), name)), "")
    body = "\n".join(f"    {line}" if line else "" for line in [*heavy, *([""] if heavy else []), *lines])
    return (
        '"""Synthetic data in the form of the real ones."""\n\nfrom __future__ import annotations\n\n'
        f"from pathlib import Path\n\nfrom mlecore.hookspecs import hookimpl\n{imports}\n\n"
        f"{schema_code(columns)}\n\n\n@hookimpl\ndef make_raw(raw: Path, seed: int, size: float) -> None:\n{body}\n"
    )


def _files(draft: Draft) -> tuple[list[str], list[str], set[str]]:
    """(lines, imports, names of the toolkit) that write a file for each row, which depends on the target."""
    assert draft.files is not None
    folder, column = f"raw / {quoted(draft.files.name)}", draft.file_column or FILE
    target = f"table[{quoted(draft.targets[0])}]"
    path = f"{folder} / name" if draft.table is not None else f"{folder} / label / name"
    if draft.file_suffix:
        path = f'{folder} / f"{{name}}{draft.file_suffix}"'
    label = f", {target}" if draft.table is None else ""
    loop = f"for name, {'label, ' if label else ''}{{}} in zip(table[{quoted(column)}]{label}, {{}}, strict=True):"
    write = [f"    path = {path}", "    path.parent.mkdir(parents=True, exist_ok=True)"]
    if draft.modality == "text":
        lines = [
            'content = ColumnSchema("text of the file", "text", low=20, high=80)',
            "texts = synthetic_table([*SCHEMA, content], len(table), seed)[content.name]",
            loop.format("text", "texts"),
            *write,
            "    path.write_text(text)",
        ]
        return lines, [], set()
    kinds = [
        "rng = np.random.RandomState(seed)",
        f'kinds = ({target}.rank(method="dense", pct=True) * 9).fillna(0).astype(int)  # what a file is like',
        loop.format("kind", "kinds"),
        *write,
    ]
    if draft.modality == "audio":
        sound = "    sound = 4000 * np.sin(np.arange(4000) * (1 + kind) / 20) + rng.normal(0, 500, 4000)"
        return (
            [*kinds, sound, "    path.write_bytes(wav(sound.astype(np.int16), 8000))"],
            ["import numpy as np"],
            {"wav"},
        )
    suffixes = [each.suffix for each in draft.columns if each.name == column]
    form = _FORMATS.get((draft.file_suffix or "".join(suffixes)).lower(), "PNG")
    write_picture = f'    path.write_bytes(encode(picture(rng, kind), "{form}"))'
    return [*kinds, write_picture], ["import numpy as np"], {"encode", "picture"}
