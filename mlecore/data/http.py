"""Download one file over HTTP: resumed, hashed as it arrives, retried on a bad connection.

``FILE.partial`` has the bytes so far, ``FILE.partial.json`` the size and validator of the whole file; both survive a
kill. ``FILE.json`` next to a finished file has its MD5, so that it is not read again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from attrs import frozen

from mlecore.data.disk_space import require
from mlecore.errors import DataError
from mlecore.util import files
from mlecore.util.file_kinds import describe
from mlecore.util.units import show_size
from mlecore_toolkit.archives import archive_kind

if TYPE_CHECKING:
    from requests import Response
    from tenacity import RetryCallState, Retrying

    from mlecore.model.backends import Progress
    from mlecore.model.facts import Facts

CHUNK = 1 << 16  # bytes: what a dropped connection loses
TIMEOUT = (20.0, 60.0)  # seconds: to connect, and between two bytes
REACH = 10.0  # seconds until a server that has sent nothing counts as unreachable
PATIENCE = 8  # attempts in a row that bring no byte
LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server names a time
_LONGEST_ASKED = 900.0
_NOTICED = 3.0  # seconds
_TELL_EVERY = 60.0


class Transient(Exception):
    """A temporary error. ``after``: the seconds after which the server wants to be asked again."""

    progress = False  # bytes arrived before it

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Unreachable(Transient):
    """No connection was made: no network, no such host, or nothing listens there."""


class Stale(Transient):
    """The file on the server has changed since the download started: start again."""


@frozen(kw_only=True)
class Body:
    """The response to a request for a file from ``offset`` on."""

    offset: int  # 0 instead of the requested one: the file changed, or the server cannot resume
    size: int | None  # of the whole file
    validator: str | None  # ETag or Last-Modified: equal means the same bytes
    chunks: Iterator[bytes]


Open = Callable[[int, str | None], Body]
"""``open(offset, validator)`` asks for the file from ``offset`` on if it is still the one that ``validator`` names."""


def fetch_file(
    open: Open, target: Path, progress: Progress | None = None, room: Callable[[int], int] = lambda size: size
) -> str:
    """Download to ``target`` (complete or absent) and return its MD5.

    ``room(size)`` is the free disk space, in bytes, that a download of ``size`` bytes and its use need.
    Raises DataError if the connection stays bad or the disk is too small; what has arrived is kept.
    """
    arriving, state = _partial(target)
    try:
        receive = partial(_receive, open, target, arriving, state, progress, room)
        digest = patience(REACH, progress)(_attempt, arriving, receive)
    except Unreachable as error:
        raise DataError(
            f"{target.name} cannot be downloaded: {error}", fix="Try again once the network works"
        ) from None
    except Transient as error:
        come = arriving.stat().st_size if arriving.exists() else 0
        kept = f"{show_size(come)} have arrived and are kept" if come else "nothing has arrived"
        raise DataError(
            f"{target.name} cannot be downloaded: {error} ({PATIENCE} times in a row); {kept}",
            fix="Try again later: the download continues where it stopped",
        ) from None
    status = arriving.stat()
    record = {"md5": digest, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    files.replace(_record(target), (json.dumps(record) + "\n").encode())
    files.rename(arriving, target)
    state.unlink(missing_ok=True)
    return digest


def patience(unreachable: float | None = None, progress: Progress | None = None) -> Retrying:
    """Retries a function while it raises Transient, waiting longer each time or as long as the server asks.

    ``unreachable``: seconds after which it gives up if no connection was made; None: as for other errors. A wait that
    a person would notice is reported to ``progress``, or else to the log, at once and every minute.

    An attempt that made progress resets the count, which stamina, the wrapper of tenacity, cannot do. After
    ``PATIENCE`` attempts without progress the last Transient is raised.
    """
    import tenacity

    grow = tenacity.wait_exponential_jitter(initial=1, max=LONGEST_WAIT, jitter=1)

    def failure(state: RetryCallState) -> Transient:
        error = state.outcome.exception() if state.outcome else None
        assert isinstance(error, Transient)
        return error

    def count(state: RetryCallState) -> None:
        if failure(state).progress:
            state.attempt_number = 1

    def out_of_reach(state: RetryCallState) -> bool:
        elapsed = (state.seconds_since_start or 0.0) + state.upcoming_sleep
        return unreachable is not None and isinstance(failure(state), Unreachable) and elapsed > unreachable

    def wait(state: RetryCallState) -> float:
        after = failure(state).after
        return grow(state) if after is None else min(after, _LONGEST_ASKED)

    told = ""

    def note(state: RetryCallState) -> None:
        nonlocal told
        again = datetime.now() + timedelta(seconds=state.upcoming_sleep)
        told = f"{failure(state)}: next try at {again:%H:%M:%S}, {PATIENCE - state.attempt_number} more"

    def wait_out(seconds: float) -> None:
        noticed = seconds >= _NOTICED
        while seconds > 0:
            if noticed and progress is not None:
                progress(0, 0, told)
            elif noticed:
                logging.getLogger(__name__).warning(told)
            sleep(min(seconds, _TELL_EVERY))
            seconds -= _TELL_EVERY

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Transient),
        stop=lambda state: state.attempt_number >= PATIENCE or out_of_reach(state),
        after=count,
        wait=wait,
        before_sleep=note,
        sleep=wait_out,
        reraise=True,
    )


def _attempt(arriving: Path, receive: Callable[[], str]) -> str:
    """One connection. Returns the MD5 of the whole file; raises Transient, with ``progress`` set if bytes arrived."""
    before = arriving.stat().st_size if arriving.exists() else 0
    try:
        return receive()
    except Unreachable as error:
        if before:  # it was reachable: the network may be back soon
            raise Transient(str(error)) from None
        raise
    except Transient as error:
        error.progress = arriving.exists() and arriving.stat().st_size > before
        if isinstance(error, Stale):
            arriving.unlink(missing_ok=True)
        raise


def _receive(
    open: Open,
    target: Path,
    arriving: Path,
    state: Path,
    progress: Progress | None,
    room: Callable[[int], int],
) -> str:
    known = _read(state)
    offset = arriving.stat().st_size if arriving.exists() and known.get("validator") else 0
    if offset and offset == known.get("size"):
        return _md5(arriving)
    body = open(offset, known.get("validator"))
    digest = hashlib.md5(usedforsecurity=False)
    if body.offset:
        digest = _md5_so_far(arriving)
    if body.size is not None:
        needed = room(body.size) - body.offset
        require(target.parent, needed, f"the download {target.name} and what is made of it")
    if not body.offset:  # another file: drop the old bytes before the new validator is noted
        arriving.unlink(missing_ok=True)
        arriving.touch(0o600)  # answers are drawn from the labels in it
    files.replace(state, json.dumps({"validator": body.validator, "size": body.size}).encode())
    done = body.offset
    with arriving.open("r+b") as file:
        file.seek(done)
        for chunk in body.chunks:
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, body.size or 0, "downloading")
        file.flush()
        os.fsync(file.fileno())
    if body.size is not None and done != body.size:
        if done > body.size:
            arriving.unlink()
        raise Transient(f"the connection dropped after {show_size(done)} of {show_size(body.size)}")
    return digest.hexdigest()


def cause(error: BaseException) -> str:
    """Why a request failed, without the exceptions' own texts: they may quote headers that contain keys."""
    found, inner = "", [error]
    while inner:
        error = inner[0]
        if isinstance(error, OSError) and error.errno is not None:
            found = error.strerror or found
        within = (*error.args, getattr(error, "reason", None), error.__cause__)
        inner = [each for each in within if isinstance(each, BaseException)]
    return found or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()


def open_url(url: str, offset: int, validator: str | None) -> Body:
    """Ask a server for a file from ``offset`` on. Raises Transient, and DataError for permanent errors."""
    import requests

    try:
        response = requests.get(url, headers=range_headers(offset, validator), stream=True, timeout=TIMEOUT)
    except requests.exceptions.RequestException as error:
        raise Transient(cause(error)) from None
    return body(response)


def range_headers(offset: int, validator: str | None) -> dict[str, str]:
    """Headers that ask for the rest of the same file, uncompressed."""
    rest = {"Range": f"bytes={offset}-", "If-Range": validator} if offset and validator else {}
    return {"Accept-Encoding": "identity", **rest}


def body(response: Response) -> Body:
    """The body of a response of requests; raises as open_url() does."""
    status = response.status_code
    if status == 416:
        response.close()
        raise Stale("what has arrived is not a part of what the server has now")
    if status in (408, 425, 429) or status >= 500:
        response.close()
        raise Transient(busy("the server", status, response.reason), after=retry_after(response))
    if status not in (200, 206):
        response.close()
        raise DataError(f"{response.url.partition('?')[0]}: the server responded with {status} {response.reason}")
    offset = size = None
    if status == 206:
        span, _, whole = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
        offset, size = int(span.partition("-")[0] or 0), int(whole) if whole.isdigit() else None
    elif response.headers.get("Content-Length", "").isdigit():
        size = int(response.headers["Content-Length"])
    headers = response.headers
    resumable = status == 206 or headers.get("Accept-Ranges") == "bytes"
    validator = (headers.get("ETag") or headers.get("Last-Modified")) if resumable else None
    return Body(offset=offset or 0, size=size, validator=validator, chunks=_chunks(response))


def _chunks(response: Response) -> Iterator[bytes]:
    import requests
    import urllib3

    try:
        yield from response.iter_content(CHUNK)
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise Transient(f"the connection dropped: {cause(error)}") from None
    finally:
        response.close()


def busy(server: str, status: int, said: str) -> str:
    """A message for a server that may answer next time."""
    return f"{server} asks to wait" if status == 429 else f"{server} answers {status} {said}".rstrip()


def retry_after(response: Response) -> float | None:
    """The seconds that the server asks to wait, whether given as a number or as a date."""
    text = response.headers.get("Retry-After", "")
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def archive_md5(archive: Path) -> str:
    """The MD5 of a file: recorded when it was downloaded, or computed if the file has changed since."""
    record, status = _read(_record(archive)), archive.stat()
    if (record.get("size"), record.get("mtime_ns")) == (status.st_size, status.st_mtime_ns):
        return str(record["md5"])
    return _md5(archive)


def downloaded(target: Path) -> bool:
    """Did fetch_file download this file? Otherwise the user put it there."""
    return _record(target).exists()


def forget(target: Path) -> None:
    """Remove a download, finished or not, and the records next to it."""
    for path in (target, *_partial(target), _record(target)):
        path.unlink(missing_ok=True)


def add_sources(facts: Facts, folder: Path, raw: Path, progress: Progress | None) -> None:
    """Download what a competition needs besides Kaggle's archive into ``raw``, unless it is there already."""
    for source in facts.sources:
        target = raw / source.path
        if target.exists():
            continue
        if not target.resolve().is_relative_to(raw.resolve()):
            raise DataError(f"{facts.id}: the source {source.path} would be outside the raw folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = folder / "sources" / Path(source.path).name
        kept.parent.mkdir(exist_ok=True)
        if not kept.exists():
            fetch_file(partial(open_url, source.url), kept, progress)
        with kept.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        no_zip = kept.suffix == ".zip" and archive_kind(kept) != "zip"
        if no_zip or source.sha256 not in (None, found):
            wrong = kept.with_name(kept.name + ".wrong")
            kept.replace(wrong)
            expected = f": SHA-256 {found}, expected {source.sha256}" if source.sha256 else ""
            raise DataError(
                f"{source.url} is not what {facts.id} needs, but {describe(wrong)[0]}{expected}",
                fix=f"It is kept as {wrong}. Run the command again to download it again",
            )
        files.link_or_copy(kept, target)


def _partial(target: Path) -> tuple[Path, Path]:
    return files.partial(target), target.with_name(target.name + ".partial.json")


def _record(target: Path) -> Path:
    return target.with_name(target.name + ".json")


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def _md5_so_far(path: Path) -> hashlib._Hash:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
