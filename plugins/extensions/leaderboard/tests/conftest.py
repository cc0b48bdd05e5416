"""Groups of drawn runs, exported and signed, and a leaderboard to put them into."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from mle_ext_sharing.exporting import export_group
from mle_ext_sharing.signed import add_signature

from mlecore.model.record import Digests, RunRecord
from mlecore.runs.store import read_record, write_record
from mlecore.util.child_environment import child_environment
from mlecore_testing import drawn_groups

sys.path.insert(0, str(Path(__file__).parent))
from boards import COMPETITIONS, call

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_key(tmp_path_factory.mktemp("keys"), "alice")


@pytest.fixture(scope="session")
def bob(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key of a second party."""
    return new_key(tmp_path_factory.mktemp("keys"), "bob")


@pytest.fixture(scope="session")
def mallory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key of somebody who is allowed to sign, but ran nothing of alice's."""
    return new_key(tmp_path_factory.mktemp("keys"), "mallory")


def new_key(folder: Path, name: str) -> Path:
    if not shutil.which("ssh-keygen"):
        pytest.skip("needs ssh-keygen (OpenSSH)")
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"{name}@example.org", "-f", str(folder / name)]
    subprocess.run(words, check=True, env=child_environment())
    return folder / name


@pytest.fixture
def allow(board: Path) -> Callable[[str, Path], None]:
    return partial(_allow, board)


def _allow(board: Path, name: str, key: Path) -> None:
    """Let a key sign under a name."""
    with (board / "allowed_signers").open("a") as lines:
        lines.write(f"{name} {key.with_suffix('.pub').read_text()}")


@pytest.fixture
def board(tmp_path: Path, key: Path) -> Path:
    return new_board(tmp_path, key)


@pytest.fixture
def shared_board(board: Path, bob: Path, mallory: Path) -> Path:
    """One whose signers are alice, bob and mallory."""
    for key in (bob, mallory):
        _allow(board, f"{key.name}@example.org", key)
    return board


@pytest.fixture
def make_export(tmp_path: Path, key: Path) -> Make:
    return partial(new_export, tmp_path, key)


@pytest.fixture
def add(board: Path) -> Make:
    return partial(new_entry, board)


@pytest.fixture(scope="session")
def full_board(tmp_path_factory: pytest.TempPathFactory, key: Path) -> Path:
    """Entries alpha, beta, and gamma-2, which corrects gamma; one of other conditions; one retracted; one rejected."""
    folder = tmp_path_factory.mktemp("full")
    board = new_board(folder, key)
    export, add = partial(new_export, folder, key), partial(new_entry, board)
    add("alpha", export("a", skill=0.1))
    add("beta", export("b", skill=0.9, agent="other"), links='{ source = "https://example.org/x" }')
    add("gamma", export("c", skill=0.6, agent="third", seeds=3))
    words = ("--corrects", "gamma", "--reason", "fewer seeds", "--sign", key)
    add("gamma-2", export("d", skill=0.6, agent="third"), *words)
    add("longer", export("e", change=lambda run: evolve(run, limits=evolve(run.limits, time=12 * 3600.0), seconds=9.0)))
    add("bad", export("f", seeds=1))
    add("gone", export("g", agent="fourth"))
    words = ("--retracts", "gone", "--reason", "it read the answers", "--sign", key, "--board", board)
    done = call("add", "gone-away", *words)
    assert done.exit_code == 0, done.output
    return board


@pytest.fixture
def full(full_board: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(full_board, tmp_path / "board"))


def new_board(parent: Path, key: Path) -> Path:
    """A leaderboard of three competitions, two seeds, signed by alice."""
    folder = parent / "board"
    done = call("new", folder, "--title", "Test & <b>board</b>")
    assert done.exit_code == 0, done.output
    path = folder / "leaderboard.toml"
    sets = f"three = {[*COMPETITIONS]}"
    before, heading, _ = path.read_text().replace("seeds = 3", "seeds = 2").partition("[sets]")
    rules = f"{before}{heading}\n{sets}\n"
    path.write_text(rules)
    (folder / "allowed_signers").write_text("")
    _allow(folder, "alice@example.org", key)
    return folder


def new_export(
    parent: Path,
    key: Path,
    name: str,
    *,
    seeds: int = 2,
    sign: bool = True,
    submissions: str = "",
    change: Callable[[RunRecord], RunRecord] | None = None,
    **more: Any,
) -> Path:
    """A signed export of drawn runs; ``change`` edits each record first.

    Exports of the same ``submissions`` have the same ones; by default, no two have.
    """
    more.setdefault("competitions", COMPETITIONS)
    folder = drawn_groups.write_group(parent / "runs", name, seeds=seeds, **more)
    for run in sorted(folder.glob("*--*")):
        record = read_record(run)
        record = evolve(record, data_kind="published" if more.get("medals", True) else "synthetic")
        if record.submission:
            text = f"id,value\n1,{submissions or name} {record.competition} {record.seed}\n"
            (run / "submission" / "submission.csv").write_text(text)
        record = change(record) if change else record
        write_record(evolve(record, digests=record.digests and Digests(findings=record.digests.findings)))
    path = parent / f"{name}.zip"
    export_group(folder, path)
    if sign:
        add_signature(path, folder, key)
    return path


def new_entry(board: Path, name: str, export: Path, *words: object, **edits: str) -> Path:
    """Add an export as an entry and answer its questions; ``edits`` are replacements in entry.toml."""
    done = call("add", name, export, "--board", board, *words)
    assert done.exit_code == 0, done.output
    path = board / "entries" / name / "entry.toml"
    _answer(path, **edits)
    return path


@pytest.fixture
def answer() -> Callable[..., None]:
    return _answer


def _answer(path: Path, **edits: str) -> None:
    """Complete an entry: all questions with no, but for ``edits`` (key -> TOML)."""
    lines = []
    for line in path.read_text().splitlines():
        if line.startswith("# ") and (" = false" in line or "links" in edits):
            line = line.removeprefix("# ").partition("  #")[0]
        name = line.partition(" = ")[0]
        if line.startswith("Complete"):
            continue
        lines.append(f"{name} = {edits.pop(name)}" if name in edits else line.replace('["..."]', '["Alice"]'))
    assert not edits
    path.write_text("\n".join(lines).replace('"..."', '"1"') + "\n")
