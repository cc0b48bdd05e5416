"""Each rule for competitions finds what it is there for, and nothing in a competition that is whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import mlecore.testing.competitions.harness as bench_module
from mlecore.competitions import competition
from mlecore.testing.competitions import RULES, data, learning
from mlecore.testing.competitions.harness import Harness
from mlecore.testing.rules import Broken, Stop, Undecided

BY_NAME = {rule.name: rule for rule in RULES}
WITHOUT_DATA = {"facts", "light", "description", "raw", "prepare", "raw-untouched"}
CODE, RAW, FACTS, TEXT = "__init__.py", "synthetic.py", "competition.toml", "description.md"

Edits = dict[str, tuple[str, str]]  # file -> (old, new)
Judge = Callable[..., list[str]]


@pytest.fixture
def harness_of(install: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Harness]:
    """``harness_of(edits)``: the new competition with these edits."""
    monkeypatch.setattr(bench_module, "MOST", 320)
    monkeypatch.setattr(bench_module, "FEWEST", 320)

    def made(edits: Edits | None = None) -> Harness:
        harness = Harness(competition(install("competition", "ring", edits)), tmp_path / "harness")
        harness.folder.mkdir()
        return harness

    return made


@pytest.fixture
def ready(harness_of: Callable[..., Harness]) -> Harness:
    """The new competition with its data."""
    harness = harness_of()
    harness.make_raw(harness.raw)
    harness.competition.prepare(harness.raw, harness.public, harness.private)
    return harness


@pytest.fixture
def judge(harness_of: Callable[..., Harness]) -> Judge:
    """``judge(rule, edits)``: what the rule says of it."""

    def tried(rule: str, edits: Edits | None = None) -> list[str]:
        harness = harness_of(edits)
        if rule in ("prepare", "raw-untouched"):
            assert not list(data.raw(harness))
        if rule == "raw-untouched":
            list(data.prepare(harness))
        if rule not in WITHOUT_DATA:
            harness.make_raw(harness.raw)
            harness.competition.prepare(harness.raw, harness.public, harness.private)
        try:
            return [str(broken) for broken in BY_NAME[rule].test(harness)]
        except Stop as reason:
            return [str(reason)]

    return tried


def test_a_whole_competition_breaks_no_rule(harness_of: Callable[..., Harness]) -> None:
    harness = harness_of()
    broken = {name: list(rule.test(harness)) for name, rule in BY_NAME.items() if name != "learnable"}
    assert not any(broken.values()), broken


READS_BY_ITSELF = (  # a grade that does not read by the [submission] table
    "truth, guess = format",
    "format = Format.parse({'id': 'id', 'columns': {'inside': {'type': 'label'}}})\n    truth, guess = format",
)
COPIES = {
    "under a name that is no table's": ("x.to_csv(public / 'notes', index=False)", "public/notes: its column 'inside'"),
    "with semicolons": ("x.to_csv(public / 'x.csv', sep=';', index=False)", "public/x.csv: its column 'inside'"),
    "that is compressed": ("x.to_csv(public / 'x.csv.gz', index=False)", "public/x.csv.gz: its column 'inside'"),
    "in an archive": (
        "__import__('zipfile').ZipFile(public / 'x.zip', 'w').writestr('a.dat', x.to_csv(index=False))",
        "public/x.zip!a.dat: its column 'inside'",
    ),
    "in a 7z archive": (
        "__import__('mlecore.prepare').prepare.write_7z(public / 'x.7z', {'a.dat': x.to_csv(index=False).encode()})",
        "public/x.7z!a.dat: its column 'inside'",
    ),
    "in a tar, after a link that leads nowhere": (
        "import io, tarfile\n"
        "    with tarfile.open(public / 'x.tar', 'w') as archive:\n"
        "        link, file = tarfile.TarInfo('link'), tarfile.TarInfo('a.dat')\n"
        "        link.type, link.linkname = tarfile.SYMTYPE, 'nowhere'\n"
        "        data = x.to_csv(index=False).encode()\n"
        "        file.size = len(data)\n"
        "        archive.addfile(link), archive.addfile(file, io.BytesIO(data))",
        "public/x.tar!a.dat: its column 'inside'",
    ),
    "as JSON": ("x.to_json(public / 'x', orient='records')", "public/x: its column 'inside'"),
    "as a part of JSON": (
        "import json; y = dict(zip(x['id'], map(str, x['inside'])))\n"
        "    (public / 'x.json').write_text(json.dumps({'n': 1, 'y': y}))",
        "public/x.json#y: its column 'value'",
    ),
    "as JSON lines": ("x.to_json(public / 'x', orient='records', lines=True)", "public/x: its column 'inside'"),
    "as Parquet": (
        "__import__('polars').DataFrame({c: x[c].to_list() for c in x}).write_parquet(public / 'x')",
        "public/x: its column 'inside'",
    ),
    "as a NumPy array": (
        "__import__('numpy').save(public / 'x.npy', x['inside'].to_numpy())",
        "public/x.npy: its column",
    ),
    "without names, in the order of the ids, backwards": (
        "x.sort_values('id')[::-1][['inside']].to_csv(public / 'x.csv', index=False)",
        "public/x.csv: its column 'inside'",
    ),
    "without a header": ("x.to_csv(public / 'x.csv', index=False, header=False)", "public/x.csv: its column"),
}
BROKEN = {
    "thresholds in the wrong order": (
        "facts",
        {
            FACTS: (
                "[submission]",
                "thresholds = { gold = 0.5, silver = 0.8, bronze = 0.7, median = 0.6 }\n[submission]",
            )
        },
        "gold = 0.5 is worse than silver = 0.8",
    ),
    "an unknown modality": ("facts", {FACTS: ('"tabular"', '"smell"')}, "modality = 'smell'"),
    "answers among public data": ("facts", {FACTS: ('"private/test.csv"', '"public/test.csv"')}, "under private/"),
    "answers outside": ("facts", {FACTS: ('"private/test.csv"', '"private/../../x.csv"')}, "under private/"),
    "an MD5 that is none": ("facts", {FACTS: ("", '[md5]\nzip = "12345"\n')}, "is not an MD5"),
    "a heavy import of the synthetic data": (
        "light",
        {RAW: ("from pathlib", "import sklearn\nfrom pathlib")},
        "it imports sklearn",
    ),
    "a heavy import": ("light", {CODE: ("from pathlib", "import sklearn\nfrom pathlib")}, "it imports sklearn"),
    "no metric in the description": ("description", {TEXT: ("accuracy", "a number")}, "does not name the metric"),
    "a local path in the description": ("description", {TEXT: ("", "\nSee /tmp/my/notes.txt.\n")}, "/tmp/my/notes.txt"),
    "a file that is not described": ("description-fits", {TEXT: ("`train.csv`", "one file")}, "train.csv"),
    "a column that is not described": ("description-fits", {TEXT: ("inside", "within")}, "'inside'"),
    "raw data by hash": ("raw", {RAW: ("RandomState(seed)", "RandomState(hash(str(seed)) % 9973)")}, "other bytes"),
    "raw data by the clock": (
        "raw",
        {RAW: ("RandomState(seed)", "RandomState(int(__import__('time').time()) % 99991)")},
        "points.csv: other bytes the second time",
    ),
    "a set's order in prepared data": (
        "prepare",
        {
            CODE: (
                "write_csv(train, public",
                "train = train.loc[:, list(set(train.columns))]\n    write_csv(train, public",
            )
        },
        "public/train.csv: other bytes the second time",
    ),
    "prepare leaves a file in raw": (
        "raw-untouched",
        {CODE: ("write_csv(train, public", "raw.chmod(0o755); (raw / 'notes').touch()\n    write_csv(train, public")},
        "notes: is there after it",
    ),
    "a link in public data": (
        "layout",
        {CODE: ("write_csv(train, public", "(public / 'x').symlink_to('/etc')\n    write_csv(train, public")},
        "neither a file nor a folder",
    ),
    "answers elsewhere": ("layout", {FACTS: ('"private/test.csv"', '"private/answers.csv"')}, "private/answers.csv"),
    "a file that prepare should write": (
        "layout",
        {FACTS: ("", '[expect]\n"public/more.csv" = { rows = 3 }\n')},
        "prepare wrote no public/more.csv",
    ),
    "a sample that is refused": ("sample", {CODE: ("assign(inside=0)", "assign(inside=0.5)")}, "check refuses it"),
    "a metric that is upside down": ("perfect", {CODE: ("return accuracy(", "return -accuracy(")}, "it scores -1.0"),
    "something better than the answers": (
        "best",
        {CODE: ("return accuracy(", "return 2.0 if guess['inside'].sum() == 0 else accuracy(")},
        "scores 2.0, the perfect submission 1.0",
    ),
    "a table that claims too much": (
        "defects",
        {CODE: READS_BY_ITSELF, FACTS: ('{ type = "label" }', '{ type = "number", high = 1 }')},
        "2, above 1, in the column inside: grade accepts it",
    ),
    "a check that refuses too much": (
        "sound",
        {CODE: READS_BY_ITSELF, FACTS: ('{ type = "label" }', '{ type = "number", high = 1 }')},
        "grade accepts it (",
    ),
    "a check that sees nothing": (
        "complete",
        {CODE: ("", "\n\n@hookimpl\ndef check(submission: Table) -> list[str]:\n    return []\n")},
        "check accepts it, grade refuses it",
    ),
    "a check that is better than it says": (
        "complete",
        {FACTS: ("[submission]", 'check_incomplete = "words hang on the answers"\n[submission]')},
        "so check is complete",
    ),
    "grade crashes": (
        "errors",
        {CODE: ("truth, guess", "submission.frame()['inside']\n    truth, guess")},
        "grade crashes",
    ),
    "reasons that are none": (
        "reasons",
        {
            CODE: (
                "truth, guess",
                "from mlecore.errors import InvalidSubmission\n"
                "    if 'inside' not in submission.frame():\n"
                "        raise InvalidSubmission(\"KeyError: 'inside'\")\n"
                "    truth, guess",
            )
        },
        "is an exception, not a sentence",
    ),
    "reasons that name the answers' folder": (
        "reasons",
        {
            CODE: (
                "truth, guess",
                "from mlecore.errors import InvalidSubmission\n"
                "    if 'inside' not in submission.frame():\n"
                "        raise InvalidSubmission(f'it is not like {private}/test.csv at all')\n"
                "    truth, guess",
            )
        },
        "names a folder of this machine",
    ),
    "the answers in test.csv": (
        "leaks",
        {CODE: ('write_csv(test.drop(columns="inside"),', "write_csv(test.rename(columns={'inside': 'z'}),")},
        "public/test.csv: its column 'z' is 'inside' of the answers",
    ),
    "the answers as they are": (
        "leaks",
        {
            CODE: (
                "write_csv(train, public",
                "write_csv(test[['id', 'inside']], public / 'x.txt')\n    write_csv(train, public",
            )
        },
        "public/x.txt: it is private/test.csv, byte for byte",
    ),
    "the answers under other names": (
        "leaks",
        {
            CODE: (
                "write_csv(train, public",
                "write_csv(test[['id', 'inside']].set_axis(['row', 'y'], axis=1)[::-1], public / 'x.csv')\n"
                "    write_csv(train, public",
            )
        },
        "public/x.csv: its column 'y' is 'inside' of the answers",
    ),
    "the answers without names, as other numbers": (
        "leaks",
        {
            CODE: (
                "write_csv(train, public",
                "write_csv(test[['inside']].astype(float).set_axis(['y'], axis=1), public / 'x.csv')\n"
                "    write_csv(train, public",
            )
        },
        "public/x.csv: its column 'y' is 'inside' of the answers",
    ),
    "answers with other names than a submission's": (
        "leaks",
        {
            CODE: (
                'write_csv(test[["id", "inside"]], private / "test.csv")',
                "truth = test[['id', 'inside']].set_axis(['row', 'truth'], axis=1)\n"
                "    write_csv(truth, private / 'test.csv')\n"
                "    write_csv(truth.assign(z=1), public / 'x.csv')",
            )
        },
        "public/x.csv: its column 'truth' is 'truth' of the answers",
    ),
    **{
        f"a copy of the answers {what}": (
            "leaks",
            {CODE: ("write_csv(train, public", f"x = test[['id', 'inside']]\n    {code}\n    write_csv(train, public")},
            found,
        )
        for what, (code, found) in COPIES.items()
    },
    "labels as folders": (
        "leaks",
        {
            CODE: (
                "write_csv(train, public",
                "for id, inside in zip(test['id'], test['inside']):\n"
                "        (public / 'images' / str(inside)).mkdir(parents=True, exist_ok=True)\n"
                "        (public / 'images' / str(inside) / f'{id}.png').touch()\n"
                "    write_csv(train, public",
            )
        },
        "names of test files reveal 'inside'",
    ),
    "labels as folders of a 7z archive": (
        "leaks",
        {
            CODE: (
                "write_csv(train, public",
                "from mlecore.prepare import write_7z\n"
                "    write_7z(public / 'x.7z', {f'{y}/{i}.png': b'' for i, y in zip(test['id'], test['inside'])})\n"
                "    write_csv(train, public",
            )
        },
        "names of test files reveal 'inside'",
    ),
    "files written label by label": (
        "order",
        {
            CODE: (
                "write_csv(train, public",
                "(public / 'images').mkdir()\n"
                "    for id in test.sort_values('inside')['id']:\n"
                "        (public / 'images' / f'{id}.png').touch()\n"
                "    write_csv(train, public",
            )
        },
        "public/images: the order of its test files by inode tells 'inside' of the answers",
    ),
    "members packed label by label": (
        "order",
        {
            CODE: (
                "write_csv(train, public",
                "import zipfile\n"
                "    with zipfile.ZipFile(public / 'images.zip', 'w') as archive:\n"
                "        for id in test.sort_values('inside')['id']:\n"
                "            archive.writestr(f'{id}.png', b'')\n"
                "    write_csv(train, public",
            )
        },
        "public/images.zip: the order of its test files by position tells 'inside' of the answers",
    ),
    "files numbered label by label": (
        "order",
        {
            CODE: (
                "write_csv(train, public",
                "test = test.sort_values('inside').assign(id=[f'{k:04}' for k in range(len(test))])\n"
                "    (public / 'images').mkdir()\n"
                "    for id in test['id'].sample(frac=1):\n"
                "        (public / 'images' / f'{id}.png').touch()\n"
                "    write_csv(train, public",
            )
        },
        "public/images: the order of its test files by name tells 'inside' of the answers",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_competition_is_found_out(judge: Judge, what: str) -> None:
    rule, edits, expected = BROKEN[what]
    found = judge(rule, edits)
    assert any(expected in place for place in found), found


def test_files_linked_from_folders_of_labels_are_in_no_order(judge: Judge) -> None:
    """Their numbers are those of copies, which `mlecore prepare` makes unless it has unpacked the raw data itself."""
    linked = (
        "write_csv(train, public",
        "(public / 'images').mkdir()\n"
        "    for id, inside in test.sort_values('inside')[['id', 'inside']].itertuples(index=False):\n"
        "        (private / str(inside)).mkdir(exist_ok=True)\n"
        "        (private / str(inside) / f'{id}.png').touch()\n"
        "        (public / 'images' / f'{id}.png').hardlink_to(private / str(inside) / f'{id}.png')\n"
        "    write_csv(train, public",
    )
    assert judge("order", {CODE: linked}) == []


def test_texts_that_pandas_cannot_take_for_numbers_are_no_leak(judge: Judge) -> None:
    beside = "test.drop(columns='inside').assign(n='1e2147483648')"
    assert judge("leaks", {CODE: ('write_csv(test.drop(columns="inside")', f"write_csv({beside}")}) == []


def test_a_damaged_archive_is_passed_over(judge: Judge) -> None:
    end = r"bytes(46) + b'PK\5\6\0\0\0\0\1\0\1\0.' + bytes(9)"  # of a zip, whose list of members is damaged
    broken = f"(public / 'x').write_bytes({end})\n    write_csv(train, public"
    assert judge("leaks", {CODE: ("write_csv(train, public", broken)}) == []


def test_a_known_leak_counts_as_declared(judge: Judge) -> None:
    leaking = ('write_csv(test.drop(columns="inside"),', "write_csv(test.rename(columns={'inside': 'z'}),")
    known = '[[leaks]]\nfile = "public/test.csv"\nwhy = "the published data has it"\n'
    assert judge("leaks", {CODE: leaking, FACTS: ("", known)}) == []


def test_validate_is_held_to_check_and_grade(harness_of: Callable[..., Harness]) -> None:
    """A table that is not what grade does misleads the agent, even where the check hook knows better."""
    own = (
        "@hookimpl\ndef grade(",
        "@hookimpl\ndef check(submission: Table, sample: Table) -> list[str]:\n"
        "    LABELS.read(submission, sample.frame())\n"
        "    return []\n\n\n"
        "LABELS = Format.parse({'id': 'id', 'columns': {'inside': {'type': 'label'}}})\n\n\n"
        "@hookimpl\ndef grade(",
    )
    harness = harness_of({FACTS: ('{ type = "label" }', '{ type = "number", low = 0, high = 1 }'), CODE: own})
    code = harness.competition.facts.folder / CODE
    code.write_text(code.read_text().replace("format.read(submission, private", "LABELS.read(submission, private"))
    harness.make_raw(harness.raw)
    harness.competition.prepare(harness.raw, harness.public, harness.private)
    assert not list(BY_NAME["sound"].test(harness))
    assert any("grade accepts it, validate says: not well-formed" in str(b) for b in BY_NAME["validate"].test(harness))


LEARNER = """
@hookimpl
def launch(task: Task) -> Launch:
    script = (
        "import pandas as pd, pathlib\\n"
        "d = pathlib.Path('data'); test = pd.read_csv(d / 'test.csv')\\n"
        "test['inside'] = RULE\\n"
        "test[['id', 'inside']].to_csv('submission/submission.csv', index=False)\\n"
    )
    return Launch(argv=("python3", "agent/main.py"), files={"agent/main.py": script.encode()})
"""


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("(test['x'] ** 2 + test['y'] ** 2 < 0.64).astype(int)", []),
        ("2", ["the submission of learner: it scores 0.0, the sample submission 0.47"]),
        ("'in'", ["the submission of learner: grade refuses it: column 'inside'"]),
    ],
)
def test_a_model_must_beat_the_sample(
    ready: Harness,
    install: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    rule: str,
    expected: list[str],
) -> None:
    old = "@hookimpl\ndef launch(task: Task) -> Launch:"
    new = LEARNER.replace("RULE", rule) + "\n\ndef unused(task: Task) -> Launch:"
    install("agent", "learner", {CODE: (old, new)})
    monkeypatch.setattr(learning, "AGENT", "learner")
    found = [str(broken) for broken in learning.learnable(ready)]
    assert len(found) == len(expected) and all(map(str.startswith, found, expected)), found


def test_without_a_model_it_stays_open(
    ready: Harness, install: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "AGENT", "nobody")
    with pytest.raises(Undecided, match="the agent nobody is not installed"):
        list(learning.learnable(ready))
    with pytest.raises(Undecided, match="has no model for it: too hard"):
        _let_work(ready, install, monkeypatch, "print('too hard')")


def test_an_agent_that_is_not_done_in_time_leaves_it_open(
    ready: Harness, install: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "_LIMIT", 0.2)
    with pytest.raises(Undecided, match="is not done after"):
        _let_work(ready, install, monkeypatch, "import time; time.sleep(600)")


def test_an_agent_that_crashes_breaks_the_rule(
    ready: Harness, install: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash is a bug to fix, and does not mean that the agent has no model."""
    [broken] = _let_work(ready, install, monkeypatch, "print('hello'); raise SystemExit('no column x')")
    assert str(broken) == "the agent lazy: it crashes, exit code 1:\nhello\nno column x"


def _let_work(
    harness: Harness, install: Callable[..., str], monkeypatch: pytest.MonkeyPatch, script: str
) -> list[Broken]:
    """What the rule says where the agent is this script."""
    install("agent", "lazy", {CODE: ('"agent/main.py", str(task.data)', f'"-c", {script!r}')})
    monkeypatch.setattr(learning, "AGENT", "lazy")
    return list(learning.learnable(harness))
