"""Groups that somebody edited, or made to harm: every verb says what is wrong, shows the rest, and comes back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.testing.hostile import in_time

RUN, OTHER = "worker--coins--0", "worker--coins--1"
DEEP_TOML = b"x = " + b"[" * 50_000


def content(data: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return put


def link_to(target: str) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    return put


def fifo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


TAMPERED = {
    "null": content(b"null"),
    "list": content(b'[{"x": 1}]'),
    "string": content(b'"x"'),
    "number": content(b"1e999"),
    "deep": content(b"[" * 100_000),
    "deep objects": content(b'{"a":' * 100_000),
    "deep toml": content(DEEP_TOML),
    "not text": content(b"\xff\xfe\x00"),
    "half a pair": content(rb'{"run": "\ud800", "event": "\ud800", "status": "\ud800", "host": "\ud800"}'),
    "fifo": fifo,
    "zeros": link_to("/dev/zero"),
    "loop": link_to("."),
    "folder": lambda path: path.mkdir(parents=True),
}
FILES = (
    "group.json",
    "plan.toml",
    "events.jsonl",
    "controller.lock",
    "controller.claim",
    "requests",
    "requests/cancel",
    "builds",
    ".cache",
    f"{RUN}/run.json",
    f"{RUN}/grade.json",
    f"{RUN}/attempts",
    f"{RUN}/logs",
    f"{RUN}/submission",
    f"{RUN}/snapshots",
    f"{RUN}/snapshots.json",
    f"{RUN}/findings",
    RUN,
)
VERBS = (
    ("runs", "list"),
    ("runs", "list", "g"),
    ("runs", "list", "g", "--json"),
    ("runs", "show", f"g/{RUN}"),
    ("runs", "show", f"g/{RUN}", "--json"),
    ("runs", "logs", f"g/{RUN}"),
    ("runs", "verify", "g"),
    ("runs", "retry", "g"),
    ("runs", "retry", f"g/{RUN}"),
    ("runs", "cancel", "g"),
    ("runs", "cancel", f"g/{RUN}"),
    ("runs", "resume", "g"),
    ("report", "g"),
    ("report", "g", "--json"),
)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, data):
    """A group of two graded runs, in a folder of its own."""
    from conftest import Lab  # type: ignore[attr-defined]

    lab = Lab(tmp_path_factory.mktemp("whole"), data)
    lab.make(("worker", {}), seeds=2)
    assert lab.run().complete
    return lab.root


@pytest.fixture
def verb(whole, data, monkeypatch):
    """The whole group anew, and a function that calls a verb on it."""
    monkeypatch.setenv("MLECORE_DATA", str(data))
    runs = whole / "runs"
    kept = whole / "kept"
    if not kept.exists():
        shutil.copytree(runs, kept, symlinks=True)
    remove(runs)
    shutil.copytree(kept, runs, symlinks=True)

    def call(*words: str) -> tuple[int, str]:
        arguments = [words[0], *words[1:], "--runs", str(runs)]
        result = in_time(lambda: CliRunner().invoke(main, arguments), 30)
        fine = result.exception is None or isinstance(result.exception, SystemExit)
        assert fine, f"{words}: {result.exc_info}"
        return result.exit_code, result.output

    call.group = runs / "g"  # type: ignore[attr-defined]
    return call


@pytest.mark.parametrize("how", TAMPERED)
@pytest.mark.parametrize("file", FILES)
def test_no_verb_breaks(verb, file, how):
    path = verb.group / file
    failed = []
    for words in VERBS:
        remove(path)
        TAMPERED[how](path)
        try:
            verb(*words)
        except AssertionError as error:
            failed.append(str(error))
        except Exception as error:
            failed.append(f"{words}: {error!r}")
    assert not failed, "\n".join(failed)
