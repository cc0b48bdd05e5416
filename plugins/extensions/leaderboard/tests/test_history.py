"""What nobody but an entry's own signers can do to it: replace it, withdraw it, copy it, change its files."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve
from boards import call, check, ranked, sign_again, sign_as
from mle_ext_sharing.bundle import OpenBundle

from mlecore.model.record import RunRecord
from mlecore.util.child_environment import child_environment

pytestmark = pytest.mark.slow


def git(folder: Path, *words: str) -> str:
    options = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", folder, *options, *words], check=True, capture_output=True, text=True, env=child_environment()
    )
    return done.stdout


def commit(board: Path) -> None:
    if not (board / ".git").exists():
        git(board, "init", "-q", "-b", "main")
    git(board, "add", "-A")
    git(board, "commit", "-qm", "more")


# corrections and retractions


def test_corrections_and_retractions(board: Path, make_export, add, key: Path) -> None:
    add("alpha", make_export("a"))
    about = ("--corrects", "alpha", "--sign", key)
    assert call("add", "x", make_export("b"), *about, "--board", board).exit_code == 2  # no reason
    words = ("--corrects", "alpha", "--reason", "a wrong option")
    assert call("add", "x", make_export("y"), *words, "--board", board).exit_code == 2  # no key
    add("alpha-2", make_export("c"), *words, "--sign", key)
    add("alpha-3", make_export("d"), "--corrects", "alpha-2", "--reason", "another one", "--sign", key)
    assert ranked(board) == {"alpha-3"}
    words = ("--retracts", "alpha-3", "--reason", "it read the answers", "--sign", key)
    done = call("add", "away", *words, "--board", board)
    assert done.exit_code == 0, done.output
    code, said = check(board)
    assert code == 0 and ranked(board) == set(), said
    missing = board / "entries" / "away" / "entry.toml"
    missing.write_text(missing.read_text().replace('"alpha-3"', '"nosuch"'))
    code, said = check(board)
    assert code == 1 and "there is no entry 'nosuch'" in said


def test_a_key_that_did_not_sign_the_entry(shared_board: Path, make_export, add, mallory: Path) -> None:
    add("alpha", make_export("a"))
    for words in (("--retracts", "alpha"), (make_export("b"), "--corrects", "alpha")):
        done = call("add", "evil", *words, "--reason", "x", "--sign", mallory, "--board", shared_board)
        assert done.exit_code == 2 and "did not sign the entry alpha" in done.output, done.output
        assert not (shared_board / "entries" / "evil").exists()


def unsigned(folder: Path, mallory: Path) -> None:
    for path in folder.glob("statement.json*"):
        path.unlink()


def by_mallory(folder: Path, mallory: Path) -> None:
    (folder / "statement.json.sig").unlink()
    words = ["ssh-keygen", "-q", "-Y", "sign", "-n", "mlecore", "-f", str(mallory), str(folder / "statement.json")]
    subprocess.run(words, check=True, env=child_environment())


def another_name(folder: Path, mallory: Path) -> None:
    folder.rename(folder.with_name("other-name"))


def another_reason(folder: Path, mallory: Path) -> None:
    path = folder / "entry.toml"
    path.write_text(path.read_text().replace("honest", "they cheated"))


def another_reason_and_statement(folder: Path, mallory: Path) -> None:
    another_reason(folder, mallory)
    path = folder / "statement.json"
    path.write_text(path.read_text().replace("honest", "they cheated"))


def another_entry(folder: Path, mallory: Path) -> None:
    path = folder / "entry.toml"
    path.write_text(path.read_text().replace('"beta"', '"alpha"'))


def a_link(folder: Path, mallory: Path) -> None:
    shutil.move(folder / "statement.json", folder.parent.parent / "elsewhere.json")
    (folder / "statement.json").symlink_to(folder.parent.parent / "elsewhere.json")


FORGERIES = [unsigned, by_mallory, another_name, another_reason, another_reason_and_statement, another_entry, a_link]


@pytest.mark.parametrize(
    ("kind", "forge"),
    [*(("retracts", forge) for forge in FORGERIES), ("corrects", unsigned), ("corrects", another_entry)],
)
def test_forged_statements_have_no_effect(
    shared_board: Path, make_export, add, key: Path, mallory: Path, kind: str, forge: Callable[[Path, Path], None]
) -> None:
    """What alice signed about beta, and one of her exports, turned into something else."""
    board = shared_board
    add("alpha", make_export("a"))
    add("beta", make_export("b"))
    words = (f"--{kind}", "beta", "--reason", "honest", "--sign", key)
    if kind == "corrects":
        add("evil", make_export("c"), *words)
    else:
        assert call("add", "evil", *words, "--board", board).exit_code == 0
    forge(board / "entries" / "evil", mallory)
    code, said = check(board)
    assert code == 1 and "alpha: accepted" in said and "beta: accepted" in said, said
    assert "evil: rejected" in said or "other-name: rejected" in said
    assert ranked(board) == {"alpha", "beta"}


def test_another_export_of_the_lab_is_no_correction(shared_board: Path, make_export, add, key: Path) -> None:
    """Its statement was for another export."""
    board = shared_board
    add("alpha", make_export("a"))
    path = add("alpha-2", make_export("b"), "--corrects", "alpha", "--reason", "x", "--sign", key)
    statement = {each.name: each.read_bytes() for each in path.parent.glob("statement.json*")}
    assert ranked(board) == {"alpha-2"}
    shutil.rmtree(path.parent)
    add("alpha-2", make_export("c", submissions="c"))
    text = path.read_text()
    path.write_text('corrects = "alpha"\nreason = "x"\n' + text)
    for name, content in statement.items():
        (path.parent / name).write_bytes(content)
    code, said = check(board, "alpha-2")
    assert code == 1 and "statement.json" in said and ranked(board) == {"alpha"}, said


def test_an_export_that_is_kept_elsewhere(board: Path, make_export, add, key: Path) -> None:
    """Who signed it is known all the same: it can be withdrawn, and has no rank without a signature."""
    add("alpha", make_export("a"), "--address", "https://lab.example.org/a.zip")
    path = add("beta", make_export("b", agent="other", sign=False), "--address", "https://lab.example.org/b.zip")
    assert ranked(board) == {"alpha"}
    shutil.copytree(path.parent.parent / "alpha" / "signed", path.parent / "signed", dirs_exist_ok=True)
    assert ranked(board) == {"alpha"}  # alpha's are not beta's
    words = ("--retracts", "alpha", "--reason", "x", "--sign", key, "--board", board)
    assert call("add", "away", *words).exit_code == 0 and check(board, "away")[0] == 0
    assert ranked(board) == set()
    (board / "entries" / "alpha" / "signed" / "notes.txt").touch()
    code, said = check(board, "alpha")
    assert code == 1 and "signed/notes.txt" in said, said


# which entry was first


def copy_of(board: Path, name: str, to: str) -> None:
    folder = Path(shutil.copytree(board / "entries" / name, board / "entries" / to))
    path = folder / "entry.toml"
    lines = path.read_text().splitlines()
    path.write_text("\n".join('date = "2020-01-01"' if line.startswith("date") else line for line in lines) + "\n")


def test_the_first_one_is_told_by_git(board: Path, make_export, add, key: Path) -> None:
    """Whatever the dates are; removed and added again is new."""
    add("victim", make_export("a"))
    copy_of(board, "victim", "copy")
    code, said = check(board)  # no history
    assert code == 3 and "copy: undecided" in said and "victim: undecided" in said, said
    shutil.move(board / "entries" / "copy", board.parent / "copy")
    (board / "entries" / "copy").mkdir()
    (board / "entries" / "copy" / "entry.toml").write_text("an older entry of that name\n")
    commit(board)
    shutil.rmtree(board / "entries" / "copy")
    commit(board)
    shutil.move(board.parent / "copy", board / "entries" / "copy")
    for _ in range(2):  # in the working tree, then in a commit
        code, said = check(board)
        assert code == 1 and "copy: rejected" in said and "victim: accepted" in said, said
        assert "its runs are those of the entry victim" in said
        assert ranked(board) == {"victim"}
        commit(board)
        (board / "README.md").write_text("later\n")


def test_a_branch_is_newer_than_its_base(board: Path, make_export, add) -> None:
    """Also if it began before the entry that it copies."""
    commit(board)
    git(board, "switch", "-qc", "evil")
    add("copy", make_export("a"))
    commit(board)
    git(board, "switch", "-q", "main")
    shutil.copytree(board.parent / "runs", board.parent / "again")
    add("victim", board.parent / "a.zip")
    commit(board)
    git(board, "switch", "-q", "evil")
    git(board, "merge", "-q", "--no-edit", "main")
    code, said = check(board, "--base", "main")
    assert code == 1 and "copy: rejected" in said and "those of the entry victim" in said, said


def test_a_date_in_the_future(board: Path, make_export, add) -> None:
    today = datetime.now(UTC).date()
    add("alpha", make_export("a"), date=f'"{today + timedelta(days=1)}"')
    assert check(board)[0] == 0
    add("beta", make_export("b"), date=f'"{today + timedelta(days=2)}"')
    code, said = check(board, "beta")
    assert code == 1 and "in the future" in said, said


# copies


def another_line(run: RunRecord) -> RunRecord:
    """The same submission in other bytes."""
    if path := run.submission:
        path.write_text(path.read_text() + "\n")
    return run


def another_last_digit(run: RunRecord) -> RunRecord:
    """Within what grading again allows for."""
    path = run.folder / "grade.json"
    values = json.loads(path.read_text())
    if values["score"] is not None:
        values["score"] *= 1 + 1e-11
        values["score_text"] = repr(values["score"])
        path.write_text(json.dumps(values))
    return another_line(run)


@pytest.mark.parametrize("disguise", [None, another_line, another_last_digit])
def test_somebody_elses_submissions_in_a_group_of_ones_own(
    shared_board: Path, make_export, add, mallory: Path, disguise: Callable[[RunRecord], RunRecord] | None
) -> None:
    board = shared_board
    add("victim", make_export("a", submissions="s"))
    add("other", make_export("o", agent="other"))
    commit(board)
    export = make_export("b", submissions="s", sign=False, change=disguise)
    add("copy", sign_as(export, mallory))
    code, said = check(board)
    assert code == 1 and "copy: rejected" in said and "in victim" in said and "--countersign" in said, said
    assert "victim: accepted" in said and "other: accepted" in said and ranked(board) == {"victim", "other"}


def test_submissions_of_several_entries(shared_board: Path, make_export, add, mallory: Path) -> None:
    """Half from one, half from another."""
    add("first", make_export("a", submissions="first", skill=0.9))
    add("second", make_export("b", submissions="second", skill=0.9, agent="other"))
    commit(shared_board)

    def take(run):
        path = run.submission
        if path:
            path.write_text(path.read_text().replace("x", "first" if run.seed else "second"))
        return run

    export = make_export("c", submissions="x", sign=False, agent="third", skill=0.9, change=take)
    add("both", sign_as(export, mallory))
    code, said = check(shared_board)
    assert code == 1 and "both: rejected" in said and "first, second" in said, said


def test_ones_own_submissions_and_those_that_earn_nothing(
    shared_board: Path, make_export, add, key: Path, mallory: Path
) -> None:
    """A lab may show its own ones under other conditions; the sample submission is everybody's."""
    board = shared_board
    add("alpha", make_export("a", submissions="s"))
    commit(board)
    longer = make_export(
        "l", submissions="s", change=lambda run: evolve(run, limits=evolve(run.limits, time=7200.0), seconds=9.0)
    )
    add("longer", longer)
    code, said = check(board)
    assert code == 0 and "warning, results:" in said and "in alpha" in said, said
    add("weak", make_export("w", submissions="sample", skill=-5.0, agent="weak"))
    commit(board)
    add("weak-too", sign_as(make_export("v", submissions="sample", sign=False, skill=-5.0, agent="weak"), mallory))
    code, said = check(board, "weak-too")
    assert code == 0, said


# pull requests


def test_a_pull_request(shared_board: Path, make_export, add, bob: Path) -> None:
    board = shared_board
    add("alpha", make_export("a"))
    commit(board)
    git(board, "switch", "-qc", "more")
    add("beta", make_export("b"))
    code, said = check(board, "--base", "main")
    assert code == 0 and "beta: accepted" in said and "alpha: " not in said, said
    commit(board)
    assert "beta: accepted" in check(board, "--base", "main")[1]
    (board / "allowed_signers").open("a").write("# x\n")
    code, said = check(board, "--base", "main")
    assert code == 0 and "it also changes allowed_signers" in said
    (board / "entries" / "alpha" / "entry.toml").open("a").write("# better\n")
    code, said = check(board, "--base", "main")
    assert code == 1 and "it changes entries/alpha/entry.toml: entries stay as they are" in said
    git(board, "checkout", "-q", ".")
    sign_again(board / "entries" / "alpha" / "export.zip", bob)
    code, said = check(board, "--base", "main")
    assert code == 0 and "it adds a signature" in said and "alpha: accepted" in said, said
    shutil.rmtree(board / "entries" / "alpha")
    code, said = check(board, "--base", "main")
    assert code == 1 and "it removes entries/alpha/export.zip" in said
    assert check(board, "--base", "--help")[0] == 2 and check(board, "--base", "nosuch")[0] == 2


def rewrite(export: Path, change: Callable[[dict[str, bytes]], Mapping[str, bytes]]) -> None:
    with OpenBundle(export) as source:
        contents = {name: b"".join(source.read(name, 10**7)) for name in source.names()}
    with zipfile.ZipFile(export, "w") as archive:
        for name, content in change(contents).items():
            archive.writestr(name, content)


def one_removed(folder: Path, mallory: Path) -> None:
    rewrite(folder / "export.zip", lambda old: {name: old[name] for name in old if "/ran-again" not in name})


def ran_by_mallory(folder: Path, mallory: Path) -> None:
    """Who is named as one who ran it could withdraw it."""
    sign_as(folder / "export.zip", mallory)


def exchanged(folder: Path, mallory: Path) -> None:
    """A signature that is good, in the place of another one."""
    export = folder / "export.zip"
    with OpenBundle(export) as source:
        before = [name for name in source.names() if "/ran-again-" in name]
    sign_again(export, mallory)

    def change(old: dict[str, bytes]) -> dict[str, bytes]:
        own = sorted(name for name in old if "/ran-again-" in name and name not in before)
        return {**old, **{name: old[mine] for name, mine in zip(sorted(before), own, strict=True)}}

    rewrite(export, change)


def in_a_zip(name: str) -> Callable[[Path, Path], None]:
    def add(folder: Path, mallory: Path) -> None:
        with zipfile.ZipFile(folder / "export.zip", "a") as archive:
            archive.writestr(name, b"x")

    return add


def in_the_folder(name: str) -> Callable[[Path, Path], None]:
    def add(folder: Path, mallory: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")

    return add


def other_bytes(folder: Path, mallory: Path) -> None:
    """The same members, packed otherwise."""
    rewrite(folder / "export.zip", lambda old: old)


def replaced(folder: Path, mallory: Path) -> None:
    shutil.copy(folder.parent.parent.parent / "b.zip", folder / "export.zip")


def no_zip(folder: Path, mallory: Path) -> None:
    (folder / "export.zip").write_bytes(b"PK")


def linked(folder: Path, mallory: Path) -> None:
    shutil.move(folder / "export.zip", folder.parent.parent.parent / "elsewhere.zip")
    (folder / "export.zip").symlink_to(folder.parent.parent.parent / "elsewhere.zip")


CHANGES = [one_removed, ran_by_mallory, exchanged, other_bytes, replaced, no_zip, linked]
EXTRA = [
    *(in_a_zip(name) for name in ("notes.txt", "signatures/a/b.json", "signatures/x.json", "bundle.json")),
    *(in_the_folder(name) for name in ("notes.txt", "statement.json", "export/x.json")),
]


@pytest.mark.parametrize("change", [*CHANGES, *EXTRA])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_signatures_may_only_be_added(
    shared_board: Path, make_export, add, bob: Path, mallory: Path, change: Callable[[Path, Path], None]
) -> None:
    board = shared_board
    add("alpha", make_export("a"))
    make_export("b")
    sign_again(board / "entries" / "alpha" / "export.zip", bob)
    commit(board)
    change(board / "entries" / "alpha", mallory)
    code, said = check(board, "--base", "main")
    assert code == 1 and "error: it" in said, said
    commit(board)
    if change in EXTRA:  # rejected wherever it came from
        assert check(board)[0] == 1


def test_an_export_that_is_a_folder(shared_board: Path, make_export, add, bob: Path, mallory: Path) -> None:
    export = make_export("a")
    with zipfile.ZipFile(export) as archive:
        archive.extractall(export.with_suffix(""))
    add("alpha", export.with_suffix(""))
    commit(shared_board)
    folder = shared_board / "entries" / "alpha" / "export"
    sign_again(folder, bob)
    code, said = check(shared_board, "--base", "main")
    assert code == 0 and "it adds a signature" in said, said
    sign_as(folder, mallory)
    assert check(shared_board, "--base", "main")[0] == 1
    git(shared_board, "checkout", "-q", ".")
    git(shared_board, "clean", "-qfd")
    next(folder.glob("signatures/*.sig")).unlink()
    assert check(shared_board, "--base", "main")[0] == 1


def test_what_is_beside_the_entries(board: Path, make_export, add) -> None:
    """A link is no entry."""
    add("alpha", make_export("a"))
    commit(board)
    (board / "entries" / "alias").symlink_to("alpha")
    code, said = check(board, "--base", "main")
    assert code == 1 and "entries/alias" in said, said
