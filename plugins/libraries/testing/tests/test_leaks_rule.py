"""The kit's rule leaks: answers among public data are found in any form, and nothing else is taken for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.slow

Judge = Callable[..., list[str]]

LEAKING = {
    "__init__.py": ('write_csv(test.drop(columns="inside"),', "write_csv(test.rename(columns={'inside': 'z'}),"),
}
LEAKS = {  # what prepare does besides, x being the answers, and what the rule says
    "the answers as they are": (
        "write_csv(x, public / 'x.txt')",
        "public/x.txt: it is private/test.csv, byte for",
    ),
    "under other names": (
        "write_csv(x.set_axis(['row', 'y'], axis=1)[::-1], public / 'x.csv')",
        "public/x.csv: its column 'y' is 'inside' of the answers",
    ),
    "without names, as other numbers": (
        "write_csv(x[['inside']].astype(float).set_axis(['y'], axis=1), public / 'x.csv')",
        "public/x.csv: its column 'y' is 'inside' of the answers",
    ),
    "under a name that is no table's": ("x.to_csv(public / 'notes', index=False)", "public/notes: its column 'inside'"),
    "with semicolons": ("x.to_csv(public / 'x.csv', sep=';', index=False)", "public/x.csv: its column 'inside'"),
    "compressed": ("x.to_csv(public / 'x.csv.gz', index=False)", "public/x.csv.gz!x.csv: its column 'inside'"),
    "in a zip": (
        "__import__('zipfile').ZipFile(public / 'x.zip', 'w').writestr('a.dat', x.to_csv(index=False))",
        "public/x.zip!a.dat: its column 'inside'",
    ),
    "in a 7z archive": (
        "from mlecore.prepare import write_7z\nwrite_7z(public / 'x.7z', {'a.dat': x.to_csv(index=False).encode()})",
        "public/x.7z!a.dat: its column 'inside'",
    ),
    "in a tar, after a link that leads nowhere": (
        "import io, tarfile\n"
        "with tarfile.open(public / 'x.tar', 'w') as archive:\n"
        "    link, file = tarfile.TarInfo('link'), tarfile.TarInfo('a.dat')\n"
        "    link.type, link.linkname = tarfile.SYMTYPE, 'nowhere'\n"
        "    data = x.to_csv(index=False).encode()\n"
        "    file.size = len(data)\n"
        "    archive.addfile(link), archive.addfile(file, io.BytesIO(data))",
        "public/x.tar!a.dat: its column 'inside'",
    ),
    "as JSON": ("x.to_json(public / 'x', orient='records')", "public/x: its column 'inside'"),
    "as a part of JSON": (
        "import json; y = dict(zip(x['id'], map(str, x['inside'])))\n"
        "(public / 'x.json').write_text(json.dumps({'n': 1, 'y': y}))",
        "public/x.json#y: its column 'value'",
    ),
    "as JSON lines": ("x.to_json(public / 'x', orient='records', lines=True)", "public/x: its column 'inside'"),
    "as Parquet": (
        "import polars\npolars.DataFrame({c: x[c].to_list() for c in x}).write_parquet(public / 'x')",
        "public/x: its column 'inside'",
    ),
    "as a NumPy array": (
        "import numpy\nnumpy.save(public / 'x.npy', x['inside'].to_numpy())",
        "public/x.npy: its column",
    ),
    "without names, in the order of the ids, backwards": (
        "x.sort_values('id')[::-1][['inside']].to_csv(public / 'x.csv', index=False)",
        "public/x.csv: its column 'inside'",
    ),
    "without a header": ("x.to_csv(public / 'x.csv', index=False, header=False)", "public/x.csv: its column"),
    "labels as folders": (
        "for id, inside in zip(x['id'], x['inside']):\n"
        "    (public / 'images' / str(inside)).mkdir(parents=True, exist_ok=True)\n"
        "    (public / 'images' / str(inside) / f'{id}.png').touch()",
        "names of test files reveal 'inside'",
    ),
    "labels as folders of a 7z archive": (
        "from mlecore.prepare import write_7z\n"
        "write_7z(public / 'x.7z', {f'{y}/{id}.png': b'' for id, y in zip(x['id'], x['inside'])})",
        "names of test files reveal 'inside'",
    ),
}


@pytest.mark.parametrize("what", LEAKS)
def test_a_leak_is_found(judge_preparing: Judge, what: str) -> None:
    code, expected = LEAKS[what]
    found = judge_preparing("leaks", f"x = test[['id', 'inside']]\n{code}")
    assert any(expected in place for place in found), found


def test_answers_in_the_table_of_test_rows_are_found(judge: Judge) -> None:
    found = judge("leaks", LEAKING)
    assert any(place.startswith("public/test.csv: its column 'z' is 'inside' of the answers") for place in found), found


def test_answers_with_other_names_than_a_submissions_are_found(judge: Judge) -> None:
    renamed = (
        "truth = test[['id', 'inside']].set_axis(['row', 'truth'], axis=1)\n"
        "    write_csv(truth, private / 'test.csv')\n"
        "    write_csv(truth.assign(z=1), public / 'x.csv')"
    )
    found = judge("leaks", {"__init__.py": ('write_csv(test[["id", "inside"]], private / "test.csv")', renamed)})
    assert any("public/x.csv: its column 'truth' is 'truth' of the answers" in place for place in found), found


def test_a_known_leak_counts_as_declared(judge: Judge) -> None:
    known = '[[leaks]]\nfile = "public/test.csv"\nwhy = "the published data has it"\n'
    assert judge("leaks", {**LEAKING, "competition.toml": ("", known)}) == []


def test_texts_that_pandas_cannot_take_for_numbers_are_no_leak(judge: Judge) -> None:
    beside = "test.drop(columns='inside').assign(n='1e2147483648')"
    assert judge("leaks", {"__init__.py": ('write_csv(test.drop(columns="inside")', f"write_csv({beside}")}) == []


def test_a_damaged_archive_is_passed_over(judge_preparing: Judge) -> None:
    end = r"bytes(46) + b'PK\5\6\0\0\0\0\1\0\1\0.' + bytes(9)"  # of a zip, whose list of members is damaged
    assert judge_preparing("leaks", f"(public / 'x').write_bytes({end})") == []
