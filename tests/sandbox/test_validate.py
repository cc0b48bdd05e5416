"""The sandbox's validate: never at odds with the generic check, small, and alike on old Pythons."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

import mlecore
from mlecore.errors import InvalidSubmission
from mlecore.submissions import generic_check, guard
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


@pytest.fixture
def opt(tmp_path: Path) -> Path:
    """A folder like /opt/mlecore, and a sandbox tree beside it."""
    folder = tmp_path / "opt"
    folder.mkdir()
    (tmp_path / "home" / "submission").mkdir(parents=True)
    shutil.copy(SANDBOX / "validate", folder / "validate")
    lay(folder, FORM, SAMPLE)
    return folder


def lay(folder: Path, form: dict, sample: str, own_check: bool = False) -> None:
    (folder / "submission.json").write_text(Format.parse(form).to_json(own_check=own_check))
    (folder / "sample.csv").write_text(sample)


def run(opt: Path, *arguments: object, python: str = sys.executable, **env: str) -> tuple[int, str]:
    home = opt.parent / "home"
    done = subprocess.run(
        [python, "-I", str(opt / "validate"), *map(str, arguments)],
        env={"MLECORE_HOME": str(home), **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not done.stderr
    return done.returncode, done.stdout


def hand_in(opt: Path, text: str) -> None:
    (opt.parent / "home" / "submission" / "submission.csv").write_text(text)


def test_each_use_is_noted(opt):
    home = opt.parent / "home"
    hand_in(opt, SAMPLE)
    assert run(opt)[0] == 0  # there is no place to note it: that hinders nobody
    (home / ".mlecore").mkdir()
    assert run(opt)[0] == run(opt, opt / "sample.csv")[0] == 0
    hand_in(opt, "id\n")
    assert run(opt)[0] == 1
    assert (home / ".mlecore" / "checks").read_bytes() == b"..."


@pytest.mark.parametrize("what", ["a folder", "a link", "a pipe"])
def test_no_check_fails_for_its_note(opt, what):
    notes, elsewhere = opt.parent / "home" / ".mlecore" / "checks", opt.parent / "elsewhere"
    notes.parent.mkdir()
    if what == "a folder":
        notes.mkdir()
    elif what == "a link":
        notes.symlink_to(elsewhere)
    else:
        os.mkfifo(notes)
    hand_in(opt, SAMPLE)
    assert run(opt)[0] == 0
    assert not elsewhere.exists()


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
def test_never_contradicts_the_generic_check(name, tmp_path):
    table, good = FORMS[name]
    path, sample = tmp_path / "submission.csv", tmp_path / "sample.csv"
    sample.write_text(good)
    form = Format.parse(table)
    told, told_apart = json.loads(form.to_json(own_check=False)), 0
    for number, text in enumerate(
        mutations(
            good, seed=71 + len(name), count=200, odd=MASKS if "masks" in name else RECORDS if "records" in name else ()
        )
    ):
        path.write_bytes(text.encode())
        try:
            generic_check(form, Table(path), Table(sample))
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
    assert told_apart > 120


def test_well_formed(opt):
    hand_in(opt, "p,id\n0.1,c\n1,a\n0,b\n")
    assert run(opt) == (0, "well-formed\n")


def test_malformed_with_the_first_offending_row(opt):
    hand_in(opt, "id,p\na,1\nb,1.5\nc,2\n")
    assert run(opt) == (1, "not well-formed: column 'p' must hold numbers from 0 to 1 in every row; row 2 has '1.5'\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; expected the columns 'id', 'p'"),
        ("id,q\na,1\nb,1\nc,1\n", "lacks the column 'p'; it has 'id', 'q'"),
        ("id,p\na,1\nb,1\n", "has 2 rows; expected 3"),
        ("id,p\na,1\nb,\nc,1\n", "row 2 has an empty cell"),
        ("id,p\na,1\nb,NA\nc,1\n", "row 2 has 'NA', which counts as missing"),
        ("id,p\na,1\nz,1\nc,1\n", "row 2: id 'z' is not one of the sample's"),
        ("id,p\na,1\nb,1\nb,1\n", "row 3: id 'b' stands there once too often"),
        ("id,p\n1,1\n2,1\n3,1\n", "id is read as numbers; expected text"),
        ('id,p\na,1\nb,1\nc,"1\n', "never closed"),
        ("id,p\na,1\nb,1,1\nc,1\n", "row 2 has 3 cells, the header 2"),
    ],
)
def test_malformed(opt, text, said):
    hand_in(opt, text)
    code, words = run(opt)
    assert code == 1
    assert said in words


def test_undecided(opt):
    hand_in(opt, "id,p\na, 1\nb,1\nc,1\n")
    assert run(opt)[0] == 3
    hand_in(opt, SAMPLE)
    lay(opt, FORM, SAMPLE, own_check=True)
    assert run(opt) == (
        3,
        "undecided: nothing wrong was found, but this competition has rules that only grading checks\n",
    )
    (opt / "sample.csv").unlink()
    assert run(opt)[0] == 3
    (opt / "submission.json").write_text("{")
    assert run(opt)[0] == 3


def test_own_rules_do_not_hide_what_is_wrong(opt):
    lay(opt, FORM, SAMPLE, own_check=True)
    hand_in(opt, "id,p\na,2\nb,1\nc,1\n")
    assert run(opt)[0] == 1


def test_a_file_may_be_named(opt, tmp_path):
    (tmp_path / "other.csv").write_text(SAMPLE)
    assert run(opt, tmp_path / "other.csv")[0] == 0
    assert run(opt, tmp_path / "none.csv") == (1, f"not well-formed: there is no file {tmp_path / 'none.csv'}\n")
    assert run(opt, "a", "b")[0] == 2


def test_warns_of_another_order(opt):
    lay(opt, {**FORM, "order": "sample"}, SAMPLE)
    hand_in(opt, "id,p\na,1\nc,1\nb,1\n")
    code, words = run(opt)
    assert code == 0
    assert "warning: rows are paired by their place in the file: row 2 is 'c', the sample has 'b' there" in words


def test_hostile_files_as_the_guard_sees_them(opt, tmp_path):
    path = tmp_path / "hostile.csv"
    good = tmp_path / "good.csv"
    good.write_text(SAMPLE)
    makers = {
        "missing": lambda: None,
        "directory": path.mkdir,
        "fifo": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(good),
        "sparse": lambda: (path.touch(), os.truncate(path, 10 * 2**30)),
        "nul": lambda: path.write_bytes(b"id,p\n\0"),
        "latin1": lambda: path.write_bytes(b"id,p\n\xe9,1\n"),
        "cut": lambda: path.write_bytes(b"id,p\n\xc3"),
        "wide": lambda: path.write_bytes(b'"",' * 20_000),
        "late wide": lambda: path.write_bytes(b"id,p\r" + b"a,1\n" * 3 * 10**5 + b"1," * 20_000),
    }
    for name, make in makers.items():
        make()
        with pytest.raises(InvalidSubmission):
            guard.guard(path, len(SAMPLE))
        code, words = run(opt, path)
        assert (name, code) == (name, 1), words
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def test_limits_are_those_of_the_guard():
    assert (validate.LARGEST, validate.LONGEST_LINE) == (guard.LARGEST, guard.LONGEST_LINE)
    assert validate.MOST_COLUMNS == guard.MOST_COLUMNS


def test_missing_words_are_those_of_pandas():
    from pandas._libs.parsers import STR_NA_VALUES

    assert validate.MISSING_WORDS == STR_NA_VALUES


def test_large_tables_in_little_memory(opt):
    lines = [f"row-{k},0.5" for k in range(200_000)]
    lay(opt, FORM, "\n".join(["id,p", *lines]))
    script = f"ulimit -v 150000; exec {sys.executable} -I {opt / 'validate'}"
    for rows, code in ((lines[::-1], 0), ([*lines[:0:-1], "x,1"], 1)):
        hand_in(opt, "\n".join(["id,p", *rows]))
        done = subprocess.run(["/bin/sh", "-c", script], env={"MLECORE_HOME": str(opt.parent / "home")})
        assert done.returncode == code


@pytest.mark.parametrize("kind", ["number", "from_text", "label", "integer", "text"])
def test_large_tables_are_typed_in_parts(tmp_path, kind):
    """Where the first rows and the last ones go through pandas in different chunks."""
    rule = {"type": "number", "from_text": True} if kind == "from_text" else {"type": kind}
    form = Format.parse({"id": "id", "columns": {"p": rule}})
    told = json.loads(form.to_json(own_check=False))
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
            generic_check(form, Table(path), Table(sample))
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
    assert decided > 2


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.13"])
def test_old_and_new_pythons(opt, version):
    python = _python(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    hand_in(opt, SAMPLE)
    assert run(opt, python=python)[0] == 0
    hand_in(opt, "id,p\na,1\nz,1\nc,1\n")
    assert run(opt, python=python)[0] == 1


def _python(version: str) -> str | None:
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*home.glob(f"{version}.*/bin/python3"), *filter(None, [shutil.which(f"python{version}")])]
    for candidate in found:
        if subprocess.run([str(candidate), "-c", ""], capture_output=True).returncode == 0:
            return str(candidate)
    return None


def test_shell_front(opt):
    script = SANDBOX / "validate_submission.sh"
    hand_in(opt, SAMPLE)
    env = {"MLECORE_OPT": str(opt), "MLECORE_HOME": str(opt.parent / "home"), "PATH": os.environ["PATH"]}
    done = subprocess.run(["/bin/sh", script], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "well-formed\n")
    done = subprocess.run(["/bin/sh", script, opt / "none.csv"], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    done = subprocess.run(["/bin/sh", script], env={**env, "PATH": str(opt)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(" to run")[0]) == (3, "undecided: there is no python3")


def test_rows_of_large_files_are_counted_before_they_are_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(validate, "HEAVY", 10)
    monkeypatch.setattr(validate, "MOST_ROWS", 20)
    (tmp_path / "sample.csv").write_text(SAMPLE)
    path = tmp_path / "submission.csv"

    def said(text: str, **form: str) -> str:
        path.write_text(text)
        table = json.loads(Format.parse({**FORM, **form}).to_json(own_check=False))
        with pytest.raises((validate.Malformed, validate.Undecided)) as reason:
            validate.check(table, str(path), str(tmp_path / "sample.csv"))
        return f"{reason.typename}: {reason.value}"

    assert said("id,p\n" + "a,no\n\n" * 4) == "Malformed: the submission has 4 rows; expected 3"
    assert said("id,p\n" + "a,no\n" * 3).startswith("Malformed: column 'p' must hold numbers")
    assert said('id,p\n"a",no\n' * 2).startswith("Malformed: column 'p' must hold numbers")
    assert said("id,p\n" + "a,1\n" * 30, ids="set", rows="any").startswith("Undecided: the submission has 30 rows, too")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 2**20])
def test_lines_of_too_many_cells_are_found_wherever_chunks_end(tmp_path, monkeypatch, size):
    monkeypatch.setattr(validate, "MOST_COLUMNS", 5)
    path, real = tmp_path / "submission.csv", os.fdopen

    class Chunks:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def read(self, most):
            return self.file.read(size)

    monkeypatch.setattr(validate.os, "fdopen", lambda *args: Chunks(real(*args)))
    path.write_text("1,2,3,4,5\n" * 3 + "\n1,2\r\n" * 5 + '"1,2,3,4,5,6"\n')
    validate.guard(str(path), 0)
    for place in ("first", "middle", "last"):
        lines = ["1\n"] * 10
        lines[{"first": 0, "middle": 5, "last": 9}[place]] = "1,2,3,4,5,6\n"
        path.write_text("".join(lines))
        with pytest.raises(validate.Malformed, match="more than 5 cells"):
            validate.guard(str(path), 0)


def test_counting_is_that_of_the_core():
    from mlecore.submissions import table

    assert (validate.HEAVY, validate.LINE_ENDS, validate.LONE.pattern) == (
        table.HEAVY,
        table._LINES,
        table._LONE.pattern,
    )
