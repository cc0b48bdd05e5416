"""Copying a run's files from its sandbox to its folder. All of them may be hostile."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from mlecore.model.backends import Backend, Handle
from mlecore.model.record import Collected, RunRecord
from mlecore.runs.secrets import Search, TooManyPlaces, search
from mlecore.runs.snapshots import code_snapshots
from mlecore.util import files
from mlecore.util.globs import Glob
from mlecore.util.printable import printable
from mlecore.util.units import show_size

OWN = ".mlecore"  # what init wrote, relative to the sandbox's home
OUTPUT_LIMIT = 256 * 10**6  # bytes of the process's output that are kept
MOST_CHECKS = 1_000_000  # are counted
LOOKALIKES = ("submission", *(f"{where}*[sS]ubmission*.[cC][sS][vV]*" for where in ("", "*/")))
"""Globs of what may have been meant as the submission: kept with the attempt, so that somebody can look at it."""
REST_LIMIT = 4 * 10**9  # bytes of logs and code that are kept
MAX_FILES = 50_000  # of candidates and snapshots, and as many again of logs and code
MAX_SNAPSHOTS = 250  # that init keeps (copies_most)
MAX_CODE_FILES, MAX_CODE_BYTES = 50, 1 << 20  # that init keeps of the code at a snapshot
_EARLY = 5.0  # seconds by which init's clock may be ahead of the one outside
_SNAPSHOT = re.compile(r"(\d{1,9})\.csv")
_SMALL = 1 << 16
_REFUSED = 100  # refusals that are listed


@frozen(kw_only=True)
class Exit:
    """What is used of exit.json, as reported by the sandbox; None if it says nothing."""

    exit_code: int | None = None
    seconds: float | None = None


def attempt_folder(record: RunRecord) -> Path:
    """The folder of an attempt's files, once it is complete."""
    assert record.attempt
    return record.folder / "attempts" / str(record.attempt.number)


def collected_logs(record: RunRecord) -> Path:
    """The last attempt's logs: where they were fetched to, else where ``lay_out`` has moved them."""
    fetched = attempt_folder(record) / "rest" / "logs"
    return fetched if fetched.is_dir() else record.folder / "logs"


def fetch(
    backend: Backend, handle: Handle, record: RunRecord, submission_limit: int, seconds: float | None = None
) -> None:
    """Fetch an attempt's files into ``attempts/<k>``: under another name first, renamed when complete. Repeatable.

    Candidates for the submission are fetched separately, so that no log, however large, can displace them. ``seconds``
    is for how long it ran, by the backend's clock.
    """
    target = attempt_folder(record)
    if target.is_dir():
        return
    partial = target.with_name(f"{target.name}.partial")
    files.remove(partial)
    files.make_folder(partial, below=record.folder)
    room = 8 * submission_limit + MAX_SNAPSHOTS * MAX_CODE_BYTES + _SMALL
    result = backend.fetch(handle, [*record.candidates, OWN, *LOOKALIKES], partial / "result", room, MAX_FILES)
    rest = backend.fetch(handle, ["logs", "code"], partial / "rest", REST_LIMIT, MAX_FILES)
    cut = _save_output(backend, handle, partial / "output.log")
    odd = [*scrub(partial / "result"), *scrub(partial / "rest")]
    odd += _only_folders(partial / "result", (OWN, f"{OWN}/snapshots", f"{OWN}/code_snapshots"))
    odd += _only_folders(partial / "rest", ("logs", "code"))
    longest = record.limits.time + record.grace if seconds is None else seconds
    forged = _drop_forged(partial / "result" / OWN / "snapshots", longest)
    forged += _drop_forged_code(partial / "result" / OWN)
    refused = list(dict.fromkeys((*forged, *result.refused, *rest.refused, *odd)))  # several globs may meet one file
    look, unsearched = search(record.folder, record.secrets)
    secrets = list(_mask(partial, look, refused))
    if cut:
        refused.append(f"output: more than {OUTPUT_LIMIT} bytes, cut")
    facts = {
        "files": result.files + rest.files,
        "bytes": result.bytes + rest.bytes,
        "refused": list(map(printable, refused[:_REFUSED])),
        "complete": result.complete and rest.complete and not cut,
        "secrets": secrets[:_REFUSED],
        "unsearched": unsearched,
    }
    files.replace(partial / "fetched.json", json.dumps(facts).encode())
    files.sync_tree(partial)
    files.rename(partial, target)


def _save_output(backend: Backend, handle: Handle, path: Path) -> bool:
    """The process's output, from its beginning; True if it was longer than what is kept."""
    left = OUTPUT_LIMIT
    with path.open("wb") as out:
        for chunk in backend.logs(handle):
            out.write(chunk[:left])
            left -= len(chunk)
            if left < 0:
                return True
    return False


def scrub(folder: Path) -> list[str]:
    """Remove whatever is neither a plain file nor a folder, in case a backend let it through."""
    found = []
    for where, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(where, name)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                path.chmod(0o755)
            elif stat.S_ISREG(mode):
                path.chmod(0o644)
            else:
                path.unlink()
                found.append(f"{path.relative_to(folder)}: not a regular file")
    return found


def _mask(partial: Path, look: Search, refused: list[str]) -> Iterator[str]:
    """Mask secrets in everything but submissions and their snapshots; "path: names" of the files that hold some.

    A file that cannot be searched, or whose name holds a secret, is removed.
    """
    for where, _, names in os.walk(partial) if look else ():
        for name in names:
            path = Path(where, name)
            shown = path.relative_to(partial)
            kept = shown.parts[0] == "result" and (shown.parts[1] != OWN or shown.parts[2:3] == ("snapshots",))
            shown = Path(*shown.parts[1:]) if len(shown.parts) > 1 else Path("logs", name)
            try:
                if any(look.in_bytes(os.fsencode(shown))):
                    path.unlink()
                    refused.append("a file whose name holds a secret")
                elif found := look.names_in(path) if kept else look.mask(path):
                    yield f"{printable(str(shown))}: {', '.join(found)}{' (not masked)' if kept else ''}"
            except TooManyPlaces as error:
                if not kept:
                    path.unlink()
                refused.append(f"{printable(str(shown))}: {error.message}")


def _only_folders(root: Path, names: Sequence[str]) -> list[str]:
    """Remove a file in the place of a folder: the run's files go below it."""
    found = []
    for name in names:
        if (root / name).is_file():
            files.remove(root / name)
            found.append(f"{name}: a file, not a folder")
    return found


def lay_out(record: RunRecord) -> RunRecord:
    """Give the run's folder its final form from ``attempts/<k>``. Repeatable at any point."""
    source = attempt_folder(record)
    result, rest = source / "result", source / "rest"
    candidate = choose(result, record.candidates)
    if candidate is not None:
        files.make_folder(record.folder / "submission", below=record.folder)
        files.link_or_copy(result / candidate, record.folder / "submission" / "submission.csv")
    _move(rest / "logs", record.folder / "logs")
    _move(rest / "code", record.folder / "code")
    for name in ("snapshots", "code_snapshots"):
        _move(result / OWN / name, record.folder / name)
    files.make_folder(record.folder / "logs", below=record.folder)
    own_log = record.folder / "logs" / "output.log"
    if (source / "output.log").exists():
        if own_log.exists():  # the agent's own file of that name, or folder
            _move(own_log, own_log.with_name("output.log.of-agent"))
        _move(source / "output.log", own_log)
    facts = _json(source / "fetched.json", 1 << 24)
    snapshots = record.folder / "snapshots"
    collected = Collected(
        files=int(facts.get("files", 0)),
        bytes=int(facts.get("bytes", 0)),
        refused=tuple(map(str, facts.get("refused", ()))),
        complete=bool(facts.get("complete", True)),
        secrets=tuple(map(str, facts.get("secrets", ()))),
        unsearched=tuple(map(str, facts.get("unsearched", ()))),
        candidate=candidate,
        snapshots=len(list(snapshots.glob("*.csv"))) if snapshots.is_dir() else 0,
        code_snapshots=len(code_snapshots(record)),
    )
    return evolve(record, collected=collected)


def _drop_forged(folder: Path, seconds: float) -> list[str]:
    """Remove snapshots that init cannot have taken: by another name, after the end, or more than it keeps."""
    if not folder.is_dir():
        return []
    names = [path.name for path in folder.iterdir() if path.name != "part"]  # init was about to take one
    if len(names) > MAX_SNAPSHOTS:
        files.remove(folder)
        return [f"{OWN}/snapshots: {len(names)} files, and init keeps {MAX_SNAPSHOTS} at most: none is believed"]
    latest = 1.01 * seconds + _EARLY
    odd = [name for name in names if not (match := _SNAPSHOT.fullmatch(name)) or int(match[1]) > latest]
    for name in odd:
        files.remove(folder / name)
    return [f"{OWN}/snapshots: {len(odd)} files that init cannot have written"] if odd else []


def _drop_forged_code(own: Path) -> list[str]:
    """Remove copies of code that init cannot have taken: without a snapshot of that time, or larger than it takes."""
    folder, dropped = own / "code_snapshots", 0
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        found = [each for each in path.rglob("*") if each.is_file()]
        if (
            not (own / "snapshots" / f"{path.name}.csv").is_file()
            or len(found) > MAX_CODE_FILES
            or sum(each.stat().st_size for each in found) > MAX_CODE_BYTES
        ):
            files.remove(path)
            dropped += path.name != "part"  # init was about to take one
    return [f"{OWN}/code_snapshots: {dropped} copies that init cannot have taken"] if dropped else []


def _move(source: Path, target: Path) -> None:
    """Rename, unless that was done; what an interrupted try left is replaced."""
    if source.exists():
        files.remove(target)
        files.rename(source, target)


def choose(home: Path, candidates: tuple[str, ...]) -> str | None:
    """The best candidate for the submission below ``home``: the first glob that matches, then the first name."""
    there = _files(home)
    for glob in map(Glob, candidates):
        for path in there:
            if glob.matches(path.as_posix()):
                return path.as_posix()
    return None


def _files(home: Path) -> list[Path]:
    return sorted(
        path
        for folder, _, names in os.walk(home)
        for path in (Path(folder, name).relative_to(home) for name in names)
        if path.parts[0] != OWN and stat.S_ISREG((home / path).lstat().st_mode)
    )


def why_no_submission(record: RunRecord) -> str:
    """Why there is none although a file was meant as one: it was rejected, or is elsewhere; else empty."""
    if record.collected is None or record.collected.candidate is not None or not record.attempt:
        return ""
    globs = [Glob(text) for text in record.candidates]
    reasons = []
    for words in record.collected.refused:
        path = words.partition(": ")[0]
        if any(glob.matches(path) or glob.prefix.is_relative_to(path) for glob in globs):  # it, or a folder above it
            reasons.append(words)
    if reasons:
        return f"not taken as a submission: {'; '.join(reasons[:5])}"
    result = attempt_folder(record) / "result"
    if not (elsewhere := _files(result)):
        return ""
    named = ", ".join(f"{printable(str(path))} ({show_size((result / path).stat().st_size)})" for path in elsewhere[:3])
    more = f" and {len(elsewhere) - 3} more" if len(elsewhere) > 3 else ""
    return f"no {record.candidates[0]}, but {named}{more}; not graded, kept in {result.relative_to(record.folder)}/"


def read_exit(record: RunRecord) -> Exit:
    """init's report on the end of the last attempt."""
    data = _json(attempt_folder(record) / "result" / OWN / "exit.json")
    code: Any = data.get("exit_code")
    seconds: Any = data.get("seconds")
    return Exit(
        exit_code=code if type(code) is int and abs(code) < 2**31 else None,
        seconds=float(seconds) if type(seconds) in (int, float) and 0 <= seconds < 1e9 else None,
    )


def read_checks(record: RunRecord) -> int:
    """How often the sandbox's validate was called, as reported by the sandbox: one byte per call."""
    path = attempt_folder(record) / "result" / OWN / "checks"
    return min(path.stat().st_size, MOST_CHECKS) if path.is_file() else 0


def _json(path: Path, most: int = _SMALL) -> dict[str, Any]:
    """A JSON object of unknown content, from so many bytes; empty if there is none."""
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(most))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
