"""The sandbox's validate, as a program: its answers and exit codes, hostile files, old Pythons, little memory."""

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

from mlecore.errors import InvalidSubmission
from mlecore_jobs import INSIDE
from mlecore_toolkit.submissions import guard
from mlecore_toolkit.submissions.format import Format

SAMPLE = "id,p\na,0.5\nb,0.5\nc,0.5\n"
FORM = {"id": "id", "columns": {"p": {"type": "number", "low": 0, "high": 1}}}


@pytest.fixture
def opt(tmp_path: Path) -> Path:
    """A folder like /opt/mlecore, and a sandbox tree beside it."""
    folder = tmp_path / "opt"
    folder.mkdir()
    (tmp_path / "home" / "submission").mkdir(parents=True)
    shutil.copy(INSIDE / "validate", folder / "validate")
    lay(folder, FORM, SAMPLE)
    return folder


def lay(folder: Path, form: dict, sample: str, own_rules: bool = False) -> None:
    (folder / "submission.json").write_text(Format.parse(form).to_json(own_rules=own_rules))
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
    assert run(opt)[0] == 0
    assert run(opt, opt / "sample.csv")[0] == 3
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
        ("id,p\na,1\nz,1\nc,1\n", "row 2: id 'z' is not in the sample"),
        ("id,p\na,1\nb,1\nb,1\n", "row 3: id 'b' occurs once too often"),
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
    lay(opt, FORM, SAMPLE, own_rules=True)
    assert run(opt) == (
        3,
        "undecided: nothing wrong was found, but there are rules that only grading checks\n",
    )
    (opt / "sample.csv").unlink()
    assert run(opt)[0] == 3
    (opt / "submission.json").write_text("{")
    assert run(opt)[0] == 3


def test_own_rules_do_not_hide_what_is_wrong(opt):
    lay(opt, FORM, SAMPLE, own_rules=True)
    hand_in(opt, "id,p\na,2\nb,1\nc,1\n")
    assert run(opt)[0] == 1


def test_a_file_may_be_named(opt, tmp_path):
    (tmp_path / "other.csv").write_text(SAMPLE)
    assert run(opt, tmp_path / "other.csv")[0] == 3
    assert run(opt, tmp_path / "none.csv") == (1, f"not well-formed: there is no file {tmp_path / 'none.csv'}\n")
    assert run(opt, "a", "b")[0] == 2


def test_another_order_is_never_well_formed_where_rows_are_paired_by_place(opt):
    lay(opt, {**FORM, "order": "sample"}, SAMPLE)
    hand_in(opt, "id,p\na,1\nc,1\nb,1\n")
    code, words = run(opt)
    assert code == 3 and "row 2 is 'c', the sample has 'b' there" in words


def test_ids_of_mixed_types_are_right_in_the_order_of_the_sample(opt):
    """pandas types a column in parts, so that in another order the same texts may be other ids."""
    mixed = "id,p\na1,0\n007,0\n1e5,0\n"
    lay(opt, FORM, mixed)
    hand_in(opt, mixed.replace(",0", ",1"))
    assert run(opt)[0] == 0
    hand_in(opt, "id,p\n007,0\na1,0\n1e5,0\n")
    assert run(opt)[0] == 3


@pytest.mark.parametrize("column", [{"type": "mask", "pixels": 9}, {"type": "records", "record": ["text", "number"]}])
def test_only_grading_reads_masks_and_records(opt, column):
    lay(opt, {"id": "id", "columns": {"p": column}}, "id,p\na,1 1\n")
    hand_in(opt, "id,p\na,1 1\n")
    assert run(opt)[0] == 3
    hand_in(opt, "id,p\nb,1 1\n")
    assert run(opt)[0] == 1


@pytest.mark.slow
def test_hostile_files_as_the_guard_sees_them(opt, tmp_path):
    path = tmp_path / "hostile.csv"
    good = tmp_path / "good.csv"
    good.write_text(SAMPLE)
    wide = b"".join(b",c%d" % place for place in range(9_000))
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
        "header over lines": lambda: path.write_bytes(b'"\n",' * 20_000),
        "short rows": lambda: path.write_bytes(b"id,p" + wide + b"\n" + b"a,1\n" * 5_000),
        "late wide": lambda: path.write_bytes(b"id,p\r" + b"a,1\n" * 3 * 10**5 + b"1," * 20_000),
    }
    for name, make in makers.items():
        make()
        with pytest.raises(InvalidSubmission):
            guard.guard(path, good)
        code, words = run(opt, path)
        assert (name, code) == (name, 1), words
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def test_agrees_with_what_is_collected(opt):
    home = opt.parent / "home"
    (home / "work").mkdir()
    (home / "work" / "out.csv").write_text(SAMPLE)
    code, words = run(opt, home / "work" / "out.csv")
    assert code == 3 and "not graded" in words
    assert run(opt, MLECORE_CANDIDATES="best.csv\nwork/*.csv") == (0, "well-formed\n")
    assert "no file" in run(opt, MLECORE_CANDIDATES="best.csv")[1]
    (home / "work" / ".first.csv").write_text("id\n")  # collection would take it
    assert run(opt, MLECORE_CANDIDATES="work/*.csv")[0] == 1
    (home / "submission").rmdir()
    (home / "submission").symlink_to("work")
    (home / "work" / "submission.csv").write_text(SAMPLE)
    code, words = run(opt)
    assert code == 1 and "symbolic link" in words


@pytest.mark.slow
def test_large_tables_in_little_memory(opt):
    lines = [f"row-{k},0.5" for k in range(200_000)]
    lay(opt, FORM, "\n".join(["id,p", *lines]))
    script = f"ulimit -v 150000; exec {sys.executable} -I {opt / 'validate'}"
    for rows, code in ((lines[::-1], 0), ([*lines[:0:-1], "x,1"], 1)):
        hand_in(opt, "\n".join(["id,p", *rows]))
        done = subprocess.run(["/bin/sh", "-c", script], env={"MLECORE_HOME": str(opt.parent / "home")})
        assert done.returncode == code


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
    script = INSIDE / "validate_submission.sh"
    hand_in(opt, SAMPLE)
    env = {"MLECORE_OPT": str(opt), "MLECORE_HOME": str(opt.parent / "home"), "PATH": os.environ["PATH"]}
    done = subprocess.run(["/bin/sh", script], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "well-formed\n")
    done = subprocess.run(["/bin/sh", script, opt / "none.csv"], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    done = subprocess.run(["/bin/sh", script], env={**env, "PATH": str(opt)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(" to run")[0]) == (3, "undecided: there is no python3")


@pytest.fixture(scope="module")
def validate() -> ModuleType:
    """The program, imported."""
    spec = importlib.util.spec_from_loader("validate", SourceFileLoader("validate", str(INSIDE / "validate")))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    spec.loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


def test_limits_are_those_of_the_guard(validate):
    assert (validate.LARGEST, validate.MOST_COLUMNS) == (guard.LARGEST, guard.MOST_COLUMNS)
    assert (validate.MOST_CELLS, validate.SAMPLES) == (guard.MOST_CELLS, guard._SAMPLES)


def test_missing_words_are_those_of_pandas(validate):
    from pandas._libs.parsers import STR_NA_VALUES

    assert validate.MISSING_WORDS == STR_NA_VALUES


def test_gaps_in_short_rows_count_as_cells_but_a_large_sample_allows_more(validate, tmp_path, monkeypatch):
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


def test_labels_may_be_true_and_false(opt):
    lay(
        opt, {"id": "id", "columns": {"p": {"type": "label", "low": 0, "high": 1}}}, "id,p\na,False\nb,False\nc,False\n"
    )
    hand_in(opt, "id,p\na,True\nb,False\nc,True\n")
    assert run(opt) == (0, "well-formed\n")
    hand_in(opt, "id,p\na,True\nb,0\nc,1\n")  # text to pandas
    assert run(opt)[0] == 3
