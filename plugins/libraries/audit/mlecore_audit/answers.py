"""Check: do public files hold the answers, by row or in another order, under other names, scaled, or as metadata?"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO

from mlecore_audit import names, outlines, sequences
from mlecore_audit.columns_found import Columns
from mlecore_audit.fields import Fields, reader_of
from mlecore_audit.files import HEAD, Item, is_text
from mlecore_audit.finding import Finding
from mlecore_audit.keys import Keys
from mlecore_audit.logs import Logs
from mlecore_audit.orders import Loose, Nameless
from mlecore_audit.pixels import Pixels
from mlecore_audit.subject import Subject
from mlecore_audit.tables import readable_tables
from mlecore_audit.words import rows_of_text

_ROWS = 50_000  # of the test part that are compared with a table, evenly chosen
_ITEMS = 20_000
_ALIKE = 200  # files of one kind: of one item each, that are read as tables; of none, whose metadata are read
_DIGITS = re.compile(r"\d+")


def examine(subject: Subject, items: int = _ITEMS) -> Iterator[Finding]:
    """``items``: test items whose metadata are read, evenly chosen."""
    columns, logs, loose, pixels = Columns(subject), Logs(subject), Loose(subject), Pixels(subject)
    keys = Keys(list(subject.answers.index), subject.keys, _ROWS)
    foreign = Keys(list(subject.answers.index), [], _ROWS, subject.aliases)
    own_tables = {table.where for part in ("train", "test") for table in subject.tables(part)}
    wanted = set(Keys(list(subject.answers.index), subject.keys, items).chosen)
    metadata: dict[str, dict[str, Fields]] = {}
    examples: dict[str, str] = {}
    alike: Counter[str] = Counter()
    for item, stream in subject.contents():
        part, key = subject.key_of(item) or (None, "")
        kind = _kind(item, key)
        alike[kind] += 1
        is_plain, has_rows = is_text(stream.read(HEAD)), False
        fields: Fields = {}
        if part == "test" and key in wanted:
            examples.setdefault(kind, item.name)
            if fields := _fields(subject, item, stream):
                metadata.setdefault(kind, {}).setdefault(key, {}).update(fields)
        elif part is None and not is_plain and alike[kind] <= _ALIKE:
            fields = _fields(subject, item, stream)
        if item.name.endswith("!xl/workbook.xml"):
            subject.failed(item.name, "cells of spreadsheets are read only where they hold numbers")
        stream.seek(0)
        pixels.add(item, stream)
        if part and alike[kind] > _ALIKE:
            continue
        stream.seek(0)
        for table, batches in readable_tables(item, stream, subject.failed):
            yield from columns.starts(f"{item.name}{table}", _DIGITS.sub("#", f"{item.name}{table}"))
            nameless = Nameless(subject)
            thing = logs.thing_of(item)
            for frame in batches:
                named = list(keys.rows(frame))
                if not named and f"{item.name}{table}" not in own_tables:
                    named = list(foreign.rows(frame))
                has_rows |= any(len(rows.columns) > 1 for _, rows in named)
                for key, rows in named:
                    columns.add(key, rows)
                if not named:
                    loose.add(frame)
                nameless.add(frame)
                if thing is not None:
                    logs.add(thing, item, frame)
            yield from nameless.findings(f"{item.name}{table}")
            yield from loose.findings(f"{item.name}{table}")
        if has_rows or not (is_plain or fields):
            continue
        stream.seek(0)
        texts = "\n".join(value for value in fields.values() if isinstance(value, str))
        yield from columns.starts(item.name, f"text {_DIGITS.sub('#', item.name)}")
        for key, rows in rows_of_text(stream if is_plain else io.BytesIO(texts.encode()), keys):
            columns.add(key, rows)
    yield from columns.ends()
    yield from logs.findings()
    yield from pixels.findings()
    for kind, fields_by_key in metadata.items():
        yield from columns.of_metadata(examples[kind], fields_by_key)
        yield from sequences.findings(subject, examples[kind], fields_by_key)
    yield from outlines.examine(subject)
    yield from names.findings(subject)


def _kind(item: Item, key: str) -> str:
    """Files of one kind: alike but for digits, in one folder or archive at the top, or in one that each item has."""
    path = PurePosixPath(item.name.replace("!", "/"))
    folders = [_DIGITS.sub("#", part) for part in path.parts[:3][: len(path.parts) - 1] if not key or key not in part]
    return f"{'/'.join(folders)}/*{path.suffix}"


def _fields(subject: Subject, item: Item, stream: IO[bytes]) -> Fields:
    stream.seek(0)
    reader = reader_of(stream.read(HEAD))
    fields: Fields = {"comment in the archive": item.comment} if item.comment else {}
    stream.seek(0)
    try:
        return fields | (reader(stream, item.size) if reader else {})
    except Exception as error:  # libraries for odd formats raise whatever they like
        subject.failed(item.name, f"its metadata cannot be read: {error}")
        return fields
