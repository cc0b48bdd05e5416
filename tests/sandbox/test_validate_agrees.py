"""The sandbox's validate, as a module: never at odds with the generic check, and with the same limits and words."""

import importlib.util
import json
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

import mlecore
from mlecore.errors import InvalidSubmission
from mlecore.submissions import guard
from mlecore.submissions.format import Format
from mlecore.submissions.table import Table

SANDBOX = Path(mlecore.__file__).parent / "sandbox"
TESTS = Path(__file__).parent.parent
SAMPLE = "id,p\na,0.5\nb,0.5\nc,0.5\n"
FORM = {"id": "id", "columns": {"p": {"type": "number", "low": 0, "high": 1}}}


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_loader(name, SourceFileLoader(name, str(path)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


sys.dont_write_bytecode, _before = True, sys.dont_write_bytecode
validate = load("mlecore_sandbox_validate", SANDBOX / "validate")
CASES = load("mlecore_tests_published_graders", TESTS / "published_graders.py").CASES
mutations = load("mlecore_tests_mutations", TESTS / "mutations.py").mutations
sys.dont_write_bytecode = _before

ANYTHING = {"type": "number", "missing": True, "infinite": True}
NUMBERED = "id,p\n1,0\n2,0\n3,0\n4,0\n"
MASKS = (
    "",
    "1 1 1",
    "3 4 5 1",
    "3 4 5",
    "8 9 8 9",
    "8 9 11 2",
    "8 9 10 2 11 3",
    "5 1 4 1",
    "0 1",
    "1 0",
    "7",
    "1 1 3 1 5",
)
RECORDS = ("", " ", "a 1 2.5 b nan 3", "a 1 nan", "a 1 inf", "a 1", "a x 1", "a  1 1", " a 1 1", " 1 1", "7", "a\t1\t1")
FORMS = {
    **{name: (make().table, make().sample) for name, make in CASES.items()},
    "set": ({**FORM, "ids": "set", "rows": "any"}, NUMBERED),
    "set, as many": ({**FORM, "ids": "set"}, NUMBERED + "1,0\n"),
    "subset": ({**FORM, "ids": "subset", "rows": "any", "columns": {"p": ANYTHING}}, NUMBERED),
    "subset of texts": (
        {**FORM, "ids": "subset", "rows": "any", "columns": {"p": {**ANYTHING, "low": 0}}},
        SAMPLE,
    ),
    "count": ({**FORM, "ids": "any", "columns": {"p": {**ANYTHING, "from_text": True}}}, NUMBERED),
    "any": (
        {
            **FORM,
            "ids": "any",
            "rows": "any",
            "order": "sample",
            "columns": {"p": {"type": "number", "missing": True, "high": 9}},
        },
        NUMBERED,
    ),
    "any column": (
        {**FORM, "ids": "any", "rows": "any", "order": "sample", "columns": {"id": {"type": "text"}}},
        SAMPLE,
    ),
    "choices": (
        {"id": "id", "columns": {"m": {"type": "text", "choices": ["up", "down", "a b"], "missing": True}}},
        "id,m\n1,up\n2,down\n3,a b\n4,up\n5,\n6,up\n",
    ),
    "masks": (
        {"id": "id", "columns": {"m": {"type": "mask", "pixels": 9, "missing": True}}},
        "id,m\n" + "".join(f"{row},{row} 2 7 1\n" for row in "123456"),
    ),
    "masks of pictures": (
        {"id": "id", "columns": {"m": {"type": "mask", "pixels": ["width", "height"]}}},
        "id,m\n" + "".join(f"{row},{row} 2 7 1\n" for row in "123456"),
    ),
    "records": (
        {"id": "id", "columns": {"m": {"type": "records", "record": ["text", "number", "integer"], "blank": True}}},
        "id,m\n" + "".join(f"{row},a {row} 7\n" for row in "123456"),
    ),
    "records with single blanks": (
        {
            "id": "id",
            "columns": {
                "m": {"type": "records", "record": ["text", "number", "integer"], "single": True, "missing": True}
            },
        },
        "id,m\n" + "".join(f"{row},a {row} 7\n" for row in "123456"),
    ),
    "repeated": ({**FORM, "extra": "refused"}, "id,p\n1,0\n1,0\n2,0\n1,0\n"),
}


@pytest.mark.parametrize("name", FORMS)
def test_never_contradicts_the_check(name, tmp_path):
    table, good = FORMS[name]
    path, sample = tmp_path / "submission.csv", tmp_path / "sample.csv"
    sample.write_text(good)
    form = Format.parse(table)
    told, told_apart = json.loads(form.to_json(own_rules=False)), 0
    for number, text in enumerate(
        mutations(
            good, seed=71 + len(name), count=80, odd=MASKS if "masks" in name else RECORDS if "records" in name else ()
        )
    ):
        path.write_bytes(text.encode())
        try:
            form.read(Table(path), Table(sample).frame())
            wanted = "well-formed"
        except InvalidSubmission as error:
            wanted = str(error)
        try:
            validate.check(told, str(path), str(sample))
            got = "well-formed"
        except validate.Malformed as reason:
            got = f"malformed: {reason}"
        except validate.Undecided:
            continue
        told_apart += 1
        assert (got == "well-formed") == (wanted == "well-formed"), f"{number}\n{text}\nwant {wanted}\ngot {got}"
    assert told_apart > 40


def test_limits_are_those_of_the_guard():
    assert (validate.LARGEST, validate.MOST_COLUMNS) == (guard.LARGEST, guard.MOST_COLUMNS)
    assert (validate.MOST_CELLS, validate.SAMPLES) == (guard.MOST_CELLS, guard._SAMPLES)


def test_missing_words_are_those_of_pandas():
    from pandas._libs.parsers import STR_NA_VALUES

    assert validate.MISSING_WORDS == STR_NA_VALUES


@pytest.mark.parametrize("kind", ["number", "from_text", "label", "integer", "text"])
def test_large_tables_are_typed_in_parts(tmp_path, kind):
    """Where the first rows and the last ones go through pandas in different chunks."""
    rule = {"type": "number", "from_text": True} if kind == "from_text" else {"type": kind}
    form = Format.parse({"id": "id", "columns": {"p": rule}})
    told = json.loads(form.to_json(own_rules=False))
    path, sample, wide = tmp_path / "submission.csv", tmp_path / "sample.csv", 1000  # 1,024 rows at a time
    ids = [f"i{k}" for k in range(1030)]
    sample.write_text("".join(f"{i},0\n" for i in ["id,p", *ids]).replace("id,p,0", "id,p"))
    header = ",".join(["id", "p", *[f"c{k}" for k in range(wide)]])
    decided = 0
    for first, last in [
        ("1", "x"),
        ("x", "1"),
        ("1", "True"),
        ("True", "False"),
        ("1.5", "1_0"),
        ("1_0", "x"),
        ("1", "2"),
    ]:
        cells = [first] * 1024 + [last] * 6
        path.write_text("\n".join([header, *[f"{i},{cell}" + "," * wide for i, cell in zip(ids, cells, strict=True)]]))
        assert validate.Rows(str(path)).chunk == 1024
        try:
            form.read(Table(path), Table(sample).frame())
            wanted = 0
        except InvalidSubmission:
            wanted = 1
        try:
            validate.check(told, str(path), str(sample))
            got = 0
        except validate.Malformed:
            got = 1
        except validate.Undecided:
            continue
        decided += 1
        assert got == wanted, (first, last)
    assert decided >= 2


def test_gaps_in_short_rows_count_as_cells_but_a_large_sample_allows_more(tmp_path, monkeypatch):
    for module in (validate, guard):
        monkeypatch.setattr(module, "MOST_CELLS", 40)
    monkeypatch.setattr(guard, "MOST_COLUMNS", 10)
    path, small, large = (tmp_path / name for name in ("submission.csv", "small.csv", "large.csv"))
    told = json.loads(Format.parse({**FORM, "ids": "any", "order": "sample", "rows": "any"}).to_json(own_rules=False))
    small.write_text("id,p\n" + "a,1\n" * 4)
    large.write_text("id,p\n" + "a,1\n" * 10)
    for rows, samples in ((10, (small, large)), (20, (large,)), (21, ())):
        path.write_text("id,p,x,y\n" + "a,1\n" * rows)
        for sample in (small, large):
            if sample in samples:
                guard.guard(path, sample)
                validate.check(told, str(path), str(sample))
                continue
            with pytest.raises(InvalidSubmission, match="4 columns and"):
                guard.guard(path, sample)
            with pytest.raises(validate.Malformed, match="too many cells"):
                validate.check(told, str(path), str(sample))
