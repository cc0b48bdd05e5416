"""init under every shell that is here: the limit, the end of the tree, what it notes down, and enemies."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore_jobs import INSIDE

INIT = INSIDE / "init"
SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "ash"]}


@pytest.fixture(params=["dash", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bash", "busybox"))])
def shell(request: pytest.FixtureRequest) -> list[str]:
    argv = SHELLS[request.param]
    if shutil.which(argv[0]) is None:
        pytest.skip(f"no {argv[0]}")
    return argv


@pytest.fixture
def sh() -> list[str]:
    """The shell that backends start it with."""
    return ["sh"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def start(shell: list[str], home: Path, *argv: str, path: str | None = None, **env: str) -> subprocess.Popen[str]:
    variables = {"PATH": path or os.environ["PATH"], "MLECORE_HOME": str(home), **env}
    program = shutil.which(shell[0]) or shell[0]
    return subprocess.Popen(
        [program, *shell[1:], str(INIT), *argv],
        cwd=home, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip


def run(shell: list[str], home: Path, *argv: str, stdin: str = "", **env: Any) -> tuple[int, str]:
    process = start(shell, home, *argv, **env)
    output, _ = process.communicate(stdin, timeout=120)
    return process.returncode, output


def ended(home: Path) -> dict[str, Any]:
    return dict(json.loads((home / ".mlecore/exit.json").read_text()))


def snapshots(home: Path) -> list[str]:
    files = sorted((home / ".mlecore/snapshots").glob("*.csv"), key=lambda path: int(path.stem))
    return [path.read_text() for path in files]


def test_the_process_gets_input_and_its_code_comes_back(shell: list[str], home: Path) -> None:
    code, output = run(shell, home, "sh", "-c", "cat; echo err >&2; exit 3", stdin="hello\n")
    assert (code, output) == (3, "hello\nerr\n")
    report = ended(home)
    assert {key: report[key] for key in ("exit_code", "signal", "timed_out", "stopped")} == {
        "exit_code": 3, "signal": None, "timed_out": False, "stopped": False,
    }  # fmt: skip
    assert 0 <= report["seconds"] < 5 and report["started_at"] <= report["ended_at"]


@pytest.mark.parametrize("argv", [("no-such-program",), ("/etc/passwd",)])
def test_what_cannot_be_started_is_reported(sh: list[str], home: Path, argv: tuple[str, ...]) -> None:
    code, _ = run(sh, home, *argv)
    assert code in (126, 127) and ended(home)["exit_code"] == code


@pytest.mark.parametrize("number", [9, 14, 17])
def test_a_signal_is_reported(shell: list[str], home: Path, number: int) -> None:
    code, _ = run(shell, home, "sh", "-c", f"kill -{number} $$; exit 5")
    if number == 17:  # SIGCHLD ends nothing
        assert (code, ended(home)["signal"]) == (5, None)
    else:
        assert (code, ended(home)["signal"]) == (247 if number == 9 else 128 + number, number)


@pytest.mark.parametrize(("code", "seen"), [(137, 247), (255, 254), (247, 247), (136, 136)])
def test_an_exit_code_is_never_that_of_an_init_that_was_killed(
    shell: list[str], home: Path, code: int, seen: int
) -> None:
    found, _ = run(shell, home, "sh", "-c", f"exit {code}")
    assert (found, ended(home)["exit_code"]) == (seen, code)


def test_the_limit_ends_what_listens(shell: list[str], home: Path) -> None:
    script = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done"
    code, output = run(shell, home, "sh", "-c", script, MLECORE_TIME_LIMIT="0.6", MLECORE_GRACE="5")
    assert code == 124 and "bye" in output
    report = ended(home)
    assert report["timed_out"] is True and report["exit_code"] == 0 and report["seconds"] >= 0.6


def test_the_limit_kills_what_does_not(shell: list[str], home: Path) -> None:
    script = "trap '' TERM INT HUP; while :; do sleep 1; done"
    code, _ = run(shell, home, "sh", "-c", script, MLECORE_TIME_LIMIT="0.5", MLECORE_GRACE="0.5")
    report = ended(home)
    assert code == 124 and report["signal"] == 9 and report["seconds"] >= 1


@pytest.mark.parametrize("name", ["x\n", "x) S 1\n", ") ) Z 1 1", "a b\nc\n"])
def test_the_limit_holds_for_a_process_with_an_odd_name(sh: list[str], home: Path, name: str) -> None:
    script = f"""
import ctypes, signal, time
ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(300)
"""
    code, _ = run(sh, home, "python3", "-c", script, MLECORE_TIME_LIMIT="1", MLECORE_GRACE="0.3")
    assert code == 124 and ended(home)["signal"] == 9


def test_a_request_to_stop_ends_the_tree(shell: list[str], home: Path) -> None:
    process = start(shell, home, "sh", "-c", "setsid sleep 301 & echo up; sleep 300")
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    report = ended(home)
    assert (process.returncode, report["stopped"], report["timed_out"]) == (143, True, False)


def test_signals_are_as_everywhere(shell: list[str], home: Path) -> None:
    """A shell starts what it puts in the background with SIGINT ignored; an agent must not inherit that."""
    argv = [*shell, "-c", "env --default-signal=INT true"]  # busybox's own env, which its shell prefers, cannot
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no env that can")
    _, output = run(shell, home, "grep", "SigIgn", "/proc/self/status")
    assert int(output.split()[1], 16) & (1 << (signal.SIGINT - 1) | 1 << (signal.SIGQUIT - 1)) == 0


def test_a_resting_submission_is_copied_once_for_each_change(shell: list[str], home: Path) -> None:
    script = """
        echo one > submission/submission.csv; sleep 1.4
        echo two > submission/submission.csv; sleep 1.4
        i=0; while [ $i -lt 12 ]; do echo $i >> submission/submission.csv; sleep 0.1; i=$((i+1)); done
    """
    run(shell, home, "sh", "-c", script, MLECORE_SNAPSHOT_BYTES="1000", MLECORE_SNAPSHOT_EVERY="0.3")
    copies = snapshots(home)
    assert copies[:2] == ["one\n", "two\n"]
    assert len(copies) <= 3  # what changes all the time is not copied, except by chance at its end
    assert (home / ".mlecore/candidates").read_text() == "submission/submission.csv\n"


@pytest.mark.slow
def test_copies_are_bounded_and_spread_over_time(sh: list[str], home: Path) -> None:
    """Room for four copies: the first and the last are kept."""
    script = "for i in 1 2 3 4 5 6; do echo 12345678$i > submission/submission.csv; sleep 1.1; done"
    run(sh, home, "sh", "-c", script, **{**CODE, "MLECORE_SNAPSHOT_BYTES": "40"})
    copies = snapshots(home)
    assert sum(map(len, copies)) <= 40
    assert copies[0] == "123456781\n" and copies[-1] == "123456786\n"
    assert len(code_snapshots(home)) == len(copies)


def test_a_submission_that_changes_all_the_time_leaves_no_long_gap(shell: list[str]) -> None:
    """Whenever one looks, N copies are at most 2 / (N - 2) of the time apart: at 24 of 100 hours one is not old."""
    text = INIT.read_text()
    make_room = text[text.index("make_room() {") : text.index("look() {")]
    script = f"""
        {make_room}
        kept='' count=0 total=0 bytes_most=1000 copies_most=12 copies=/none/ codes=/none/
        for seconds in $(seq 1 400); do
            make_room 1
            kept="$kept $seconds:1" count=$((count + 1)) total=$((total + 1))
            [ $((seconds % 40)) != 0 ] || echo $kept
        done
    """
    lines = subprocess.run([*shell, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    for at, line in enumerate(lines, 1):
        times = [int(copy.removesuffix(":1")) for copy in line.split()]
        assert (len(times), times[0], times[-1]) == (12, 1, 40 * at)
        assert max(after - before for before, after in itertools.pairwise(times)) <= 2 * 40 * at / 10


CODE = {"MLECORE_SNAPSHOT_BYTES": "1000", "MLECORE_SNAPSHOT_EVERY": "0.2", "MLECORE_SNAPSHOT_CODE": "*.py\n*.r"}


def copied(count: int) -> str:
    """Waits until so many copies of the code are complete."""
    found = "find .mlecore/code_snapshots -maxdepth 1 -name '[0-9]*'"
    return f"until [ $({found} 2>/dev/null | wc -l) -ge {count} ]; do sleep 0.1; done"


def code_snapshots(home: Path) -> list[dict[str, str]]:
    """Path -> content of each copy of the code, in order of time."""
    folders = sorted((home / ".mlecore/code_snapshots").iterdir(), key=lambda path: int(path.name))
    return [
        {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
        for folder in folders
    ]


def test_code_is_kept_with_each_copy(shell: list[str], home: Path) -> None:
    script = f"""
        mkdir -p code/a/.git 'code/b c'; echo 1 > code/main.py; echo 2 > 'code/b c/MODEL.R'
        echo x > code/data.csv; echo x > code/a/.git/x.py; ln -s /etc/passwd code/link.py; ln -s / code/root
        echo one > submission/submission.csv; {copied(1)}
        sleep 1; echo 3 > code/main.py; rm -r 'code/b c'
        echo two > submission/submission.csv; {copied(2)}
    """
    run(shell, home, "sh", "-c", script, **CODE)
    assert code_snapshots(home) == [{"main.py": "1\n", "b c/MODEL.R": "2\n"}, {"main.py": "3\n"}]
    times = {path.stem for path in (home / ".mlecore/snapshots").iterdir()}
    assert {path.name for path in (home / ".mlecore/code_snapshots").iterdir()} == times


@pytest.mark.parametrize(
    ("script", "kept"),
    [
        ("i=0; while [ $i -lt 60 ]; do : > code/$i.py; i=$((i+1)); done", 50),
        ("truncate -s 900K code/a.py; truncate -s 200K code/b.py; echo 1 > code/c.py; truncate -s 9G code/d.py", 2),
        ("mkfifo code/a.py; echo 1 > code/b.py; touch 'code/new\nline.py'", 1),
        ("rm -r code; ln -s /etc code", 0),
        ("echo 1 > code/a.py; rm -rf .mlecore; mkdir .mlecore; ln -s /tmp .mlecore/code_snapshots", 1),
    ],
)
def test_copies_of_code_are_bounded(sh: list[str], home: Path, script: str, kept: int) -> None:
    script = f"{script}; echo 1 > submission/submission.csv; {copied(1)}; exit 4"
    code, _ = run(sh, home, "sh", "-c", script, MLECORE_TIME_LIMIT="20", **CODE)
    assert code == 4 and [len(files) for files in code_snapshots(home)] == [kept]


def test_the_best_candidate_that_is_a_file_counts(sh: list[str], home: Path) -> None:
    script = "mkdir -p out/a; ln -s /etc/passwd submission/submission.csv; echo x > 'out/a/b c.csv'"
    copied = "until ls .mlecore/snapshots/*.csv >/dev/null 2>&1; do sleep 0.1; done"
    patterns = "submission/submission.csv\nout/*/*.csv\nno such/*"
    run(
        sh, home, "sh", "-c", f"{script}; {copied}", MLECORE_TIME_LIMIT="20",
        MLECORE_CANDIDATES=patterns, MLECORE_SNAPSHOT_BYTES="1000", MLECORE_SNAPSHOT_EVERY="0.2",
    )  # fmt: skip
    assert snapshots(home) == ["x\n"]
    assert (home / ".mlecore/candidates").read_text() == "out/a/b c.csv\n"


@pytest.mark.parametrize(
    "script",
    [
        "mkfifo submission/submission.csv",
        "ln -s /dev/zero submission/submission.csv",
        "mkdir submission/submission.csv",
        "truncate -s 100G submission/submission.csv",
        "echo 1 > submission/submission.csv; rm -r .mlecore; ln -s /tmp .mlecore",
        "echo 1 > submission/submission.csv; rm -r .mlecore; mkfifo .mlecore",
        "echo 1 > submission/submission.csv; mkfifo .mlecore/exit.json .mlecore/exit.json.part .mlecore/candidates",
        "echo 1 > submission/submission.csv; mkdir -p .mlecore/exit.json/x .mlecore/exit.json.part/y",
        "echo 1 > submission/submission.csv; mkdir -p .mlecore/snapshots; mkfifo .mlecore/snapshots/part",
        "rm -r submission; ln -s / submission",
    ],
)
def test_hostile_files_neither_block_nor_mislead(sh: list[str], home: Path, script: str) -> None:
    code, _ = run(
        sh, home, "sh", "-c", f"{script}; sleep 0.8; exit 4",
        MLECORE_SNAPSHOT_BYTES="1000", MLECORE_SNAPSHOT_EVERY="0.2", MLECORE_TIME_LIMIT="10",
    )  # fmt: skip
    assert code == 4
    assert not (home / ".mlecore").is_symlink() and ended(home)["exit_code"] == 4
    assert all(copy == "1\n" for copy in snapshots(home))


def test_coreutils_are_enough(sh: list[str], home: Path, tmp_path: Path) -> None:
    """No setsid, no procps."""
    tools = "sed date stat head mkdir rm mv cat sleep env true sh".split()
    (tmp_path / "bin").mkdir()
    for name in tools:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    code, output = run(sh, home, "sh", "-c", "sleep 60 & echo hi; exec sleep 60", path=str(tmp_path / "bin"),
                       MLECORE_TIME_LIMIT="0.5", MLECORE_GRACE="1")  # fmt: skip
    assert code == 124 and "hi" in output and "not found" not in output


def as_first(shell: list[str], home: Path, *argv: str, **env: str) -> tuple[int, str]:
    """init as PID 1, as every backend with namespaces has it."""
    variables = [word for item in {"MLECORE_HOME": str(home), **env}.items() for word in ("--setenv", *item)]
    done = subprocess.run(
        ["bwrap", "--unshare-pid", "--new-session", "--as-pid-1", "--bind", "/", "/", "--proc", "/proc",
         "--dev", "/dev", "--chdir", str(home), *variables, *shell, str(INIT), *argv],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def first() -> Callable[..., tuple[int, str]]:
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap")
    return as_first


@pytest.mark.sandbox
def test_as_pid_1_all_that_is_left_is_killed(shell: list[str], home: Path, first: Callable[..., Any]) -> None:
    script = "(trap '' TERM; setsid sh -c 'while :; do echo late >> code/x; sleep 0.05; done' &) ; sleep 0.3; exit 6"
    code, _ = first(shell, home, "sh", "-c", script)
    assert code == 6 and ended(home)["exit_code"] == 6
    size = (home / "code/x").stat().st_size
    time.sleep(0.2)
    assert (home / "code/x").stat().st_size == size


@pytest.mark.sandbox
def test_as_pid_1_orphans_are_buried(shell: list[str], home: Path, first: Callable[..., Any]) -> None:
    script = "i=0; while [ $i -lt 20 ]; do (sleep 0.05 &); i=$((i+1)); done; sleep 0.5; cat /proc/[0-9]*/stat"
    _, output = first(shell, home, "sh", "-c", script)
    assert not [line for line in output.splitlines() if ") Z " in line]


@pytest.mark.sandbox
def test_as_pid_1_the_clock_goes_on_when_all_is_stopped(home: Path, first: Callable[..., Any]) -> None:
    if shutil.which("dash") is None:
        pytest.skip("no dash")
    # Once init waits: a stop in the microseconds just before is lost, and the backend ends such a job from outside.
    script = "sleep 0.4; kill -STOP -1; sleep 60"
    code, _ = first(["dash"], home, "sh", "-c", script, MLECORE_TIME_LIMIT="1", MLECORE_GRACE="0.5")
    assert code == 124 and ended(home)["timed_out"] is True
