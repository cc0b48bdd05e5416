"""Each rule for competitions finds what it is there for, and nothing in a competition that is whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mlecore_testing.competitions import RULES, learning
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Undecided

pytestmark = pytest.mark.slow

BY_NAME = {rule.name: rule for rule in RULES}
CODE, RAW, FACTS, TEXT = "__init__.py", "synthetic.py", "competition.toml", "description.md"

Edits = dict[str, tuple[str, str]]  # file -> (old, new)
Judge = Callable[..., list[str]]


@pytest.fixture
def ready(harness_of: Callable[..., Harness]) -> Harness:
    """The new competition with its data."""
    harness = harness_of()
    harness.create_raw()
    harness.create_prepared()
    return harness


def test_a_whole_competition_breaks_no_rule(harness_of: Callable[..., Harness]) -> None:
    harness = harness_of()
    broken = {name: list(rule.test(harness)) for name, rule in BY_NAME.items() if name not in ("learnable", "golden")}
    assert not any(broken.values()), broken


AFTER_SPLIT = "write_csv(train, public"
LEAKING = {CODE: ('write_csv(test.drop(columns="inside"),', "write_csv(test.rename(columns={'inside': 'z'}),")}
READS_BY_ITSELF = (  # a grade that does not read by the [submission] table
    "truth, predictions = format",
    "format = Format.parse({'id': 'id', 'columns': {'inside': {'type': 'label'}}})\n    truth, predictions = format",
)
BROKEN = {
    "thresholds in the wrong order": (
        "facts",
        {
            FACTS: (
                "[obfuscated]",
                "thresholds = { gold = 0.5, silver = 0.8, bronze = 0.7, median = 0.6 }\n[obfuscated]",
            )
        },
        "gold = 0.5 is worse than silver = 0.8",
    ),
    "an unknown modality": ("facts", {FACTS: ('"tabular"', '"smell"')}, "modality = 'smell'"),
    "answers among public data": ("facts", {FACTS: ('"private/test.csv"', '"public/test.csv"')}, "under private/"),
    "answers outside": ("facts", {FACTS: ('"private/test.csv"', '"private/../../x.csv"')}, "under private/"),
    "a heavy import of the synthetic data": (
        "light",
        {RAW: ("from pathlib", "import sklearn\nfrom pathlib")},
        "it imports sklearn",
    ),
    "no metric in the description": ("description", {TEXT: ("accuracy", "a number")}, "does not name the metric"),
    "a local path in the description": ("description", {TEXT: ("", "\nSee /tmp/my/notes.txt.\n")}, "/tmp/my/notes.txt"),
    "a file that is not described": ("description-fits", {TEXT: ("`train.csv`", "one file")}, "train.csv"),
    "a described file that is missing": (
        "description-fits",
        {TEXT: ("", "\nSee also `images/<id>.png`.\n")},
        "images/<id>",
    ),
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
                "train = train.iloc[list(map(int, set(map(str, range(len(train))))))]\n    write_csv(train, public",
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
    "a sample that is rejected": ("sample", {CODE: ("assign(inside=0)", "assign(inside=0.5)")}, "check refuses it"),
    "a metric that is upside down": ("perfect", {CODE: ("return accuracy(", "return -accuracy(")}, "it scores -1.0"),
    "something better than the answers": (
        "best",
        {CODE: ("return accuracy(", "return 2.0 if predictions['inside'].sum() == 0 else accuracy(")},
        "scores 2.0, the perfect submission 1.0",
    ),
    "a score that is no number": (
        "number",
        {CODE: ("return accuracy(", "return float('nan') if predictions['inside'].nunique() == 1 else accuracy(")},
        "its score is NaN, though [submission] allows only finite numbers",
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
        {
            CODE: (
                "return accuracy(",
                "from mlecore.errors import InvalidSubmission\n"
                "    if predictions['inside'].nunique() == 1:\n"
                "        raise InvalidSubmission('all the same, which examine does not know')\n"
                "    return accuracy(",
            )
        },
        "check accepts it, grade refuses it",
    ),
    "a check that is better than it says": (
        "complete",
        {FACTS: ("[obfuscated]", 'check_incomplete = "words hang on the answers"\n[obfuscated]')},
        "so check is complete",
    ),
    "grade crashes": (
        "errors",
        {CODE: ("truth, predictions", "submission.frame()['inside']\n    truth, predictions")},
        "grade crashes",
    ),
    "reasons that are none": (
        "reasons",
        {
            CODE: (
                "truth, predictions",
                "from mlecore.errors import InvalidSubmission\n"
                "    if 'inside' not in submission.frame():\n"
                "        raise InvalidSubmission(\"KeyError: 'inside'\")\n"
                "    truth, predictions",
            )
        },
        "is an exception, not a sentence",
    ),
    "reasons that name the answers' folder": (
        "reasons",
        {
            CODE: (
                "truth, predictions",
                "from mlecore.errors import InvalidSubmission\n"
                "    if 'inside' not in submission.frame():\n"
                "        raise InvalidSubmission(f'it is not like {private}/test.csv at all')\n"
                "    truth, predictions",
            )
        },
        "names a folder of this machine",
    ),
    "answers in public data": ("leaks", LEAKING, "public/test.csv: its column 'z' is 'inside' of the answers"),
    "test rows sorted by label": (
        "order",
        {CODE: (AFTER_SPLIT, f"test = test.sort_values('inside')\n    {AFTER_SPLIT}")},
        "public/test.csv: row of the table",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_competition_is_found_out(judge: Judge, what: str) -> None:
    rule, edits, expected = BROKEN[what]
    found = judge(rule, edits)
    assert any(expected in place for place in found), found


def test_a_known_leak_counts_as_declared(judge: Judge) -> None:
    known = '[[leaks]]\nfile = "public/test.csv"\nwhy = "the published data has it"\n'
    assert judge("leaks", {**LEAKING, FACTS: ("", known)}) == []


def test_files_linked_from_folders_of_labels_are_in_no_order(judge: Judge) -> None:
    """Their numbers are those of copies, which `mlecore prepare` makes unless it has unpacked the raw data itself."""
    linked = (
        "(public / 'images').mkdir()\n"
        "    for id, inside in test.sort_values('inside')[['id', 'inside']].itertuples(index=False):\n"
        "        (private / str(inside)).mkdir(exist_ok=True)\n"
        "        (private / str(inside) / f'{id}.png').touch()\n"
        "        (public / 'images' / f'{id}.png').hardlink_to(private / str(inside) / f'{id}.png')"
    )
    assert judge("order", {CODE: (AFTER_SPLIT, f"{linked}\n    {AFTER_SPLIT}")}) == []


def test_validate_is_held_to_check_and_grade(harness_of: Callable[..., Harness]) -> None:
    """A table that is not what grade does misleads the agent."""
    harness = harness_of({FACTS: ('{ type = "label" }', '{ type = "number", high = 1 }'), CODE: READS_BY_ITSELF})
    harness.create_raw()
    harness.create_prepared()
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


def test_without_a_model_or_in_too_long_it_stays_open(
    ready: Harness, install: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "AGENT", "nobody")
    with pytest.raises(Undecided, match="the agent nobody is not installed"):
        list(learning.learnable(ready))
    monkeypatch.setattr(learning, "_MOST", 0.2)
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
