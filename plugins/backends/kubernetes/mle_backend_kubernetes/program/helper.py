"""What pods of ours do beside an agent: fill its home, give its files out, take data in, try the network.

One file of the standard library for Python 3.8 or later, given to a pod as text. ``globs.py`` lies beside it. Its
commands speak over standard input and output; a message is a line of JSON, and the bytes of a file follow as pieces,
each after its length in four bytes, with a length of zero at the end.

    helper.py stage              fill /claim and /tools from /opt/helper/files.tar.gz, once
    helper.py wait SECONDS [IDLE]   do nothing for so long: others run the commands below in this container;
                                 end sooner, where nobody has for IDLE seconds
    helper.py send               the request on standard input; files below /claim/home that its globs match
    helper.py give FILE OFFSET [follow]   a file that others write to, as pieces
    helper.py receive            files into /claim, resumed where an earlier call was cut off
    helper.py sizes              the sizes of all files below /data
    helper.py connect HOST PORT SECONDS    can it be reached? One word, for the pod's termination message
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import stat
import struct
import sys
import tarfile
import time
from typing import IO, Any, Iterator

CLAIM, HOME, RUN, TOOLS, DATA = "/claim", "/claim/home", "/claim/run", "/tools", "/data"
OUTPUT = RUN + "/output.log"
FOLDERS = (".mlecore", "agent", "code", "data", "logs", "submission")
PIECE = 1 << 20
MOST_NAMES = 200_000  # of one glob
DEPTH = 200  # of folders
HEARTBEAT = 15.0  # seconds of silence after which an empty message says that we are still there
GATEWAY_SECONDS = 900.0  # until a run's gateway answers: its image may have to be pulled
CUT_SECONDS = 15.0
JOURNAL = ".mlecore-received"

_in, _out = sys.stdin.buffer, sys.stdout.buffer


def say(message: dict[str, Any]) -> None:
    _out.write(json.dumps(message).encode() + b"\n")


def piece(content: bytes) -> None:
    _out.write(struct.pack(">I", len(content)) + content)


def hear() -> dict[str, Any]:
    line = _in.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    found: dict[str, Any] = json.loads(line)
    return found


# --- before the agent


def stage() -> int:
    """Fill home and tools. A claim on which an agent has begun before is left alone: that attempt has failed."""
    begun = CLAIM + "/begun"
    if os.path.exists(begun):
        print("an agent has begun in this claim before: its pod was taken from it", file=sys.stderr)
        return 3
    os.umask(0o022)
    for folder in (HOME, RUN, *(HOME + "/" + name for name in FOLDERS)):
        os.makedirs(folder, exist_ok=True)
    packed = "/opt/helper/files.tar.gz"
    if os.path.exists(CLAIM + "/files.tar.gz"):  # too large for a ConfigMap
        packed = CLAIM + "/files.tar.gz"
    with tarfile.open(packed, "r:gz") as tar:  # our own: the controller made it
        for member in tar:
            kind, _, path = member.name.partition("/")
            target = os.path.join({"home": HOME, "tools": TOOLS}[kind], path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            source = tar.extractfile(member)
            assert source is not None
            with source, open(target, "wb") as out:
                shutil.copyfileobj(source, out, PIECE)
            os.chmod(target, member.mode)
    for name, path in json.loads(os.environ.get("MLECORE_FROM_DATA", "{}")).items():
        shutil.copyfile(os.path.join(DATA, path), os.path.join(TOOLS, name))
    if packed.startswith(CLAIM):
        os.unlink(packed)
    _await_cut()
    for host, port in json.loads(os.environ.get("MLECORE_WAIT_FOR", "[]")):
        if not _answers(host, port, GATEWAY_SECONDS):
            print("the gateway at %s:%d does not answer" % (host, port), file=sys.stderr)
            return 5
    os.close(os.open(OUTPUT, os.O_WRONLY | os.O_CREAT, 0o644))
    os.close(os.open(begun, os.O_WRONLY | os.O_CREAT, 0o644))
    os.sync()
    return 0


def _await_cut() -> None:
    """Until the API server is out of reach, as for every run: a policy comes into force after its pod has an address.

    A cluster that never enforces them is not waited for: the record says so.
    """
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ["KUBERNETES_SERVICE_PORT"])
    deadline = time.monotonic() + CUT_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, port), timeout=0.5).close()
        except OSError:
            return
        time.sleep(0.1)


def _answers(host: str, port: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, port), timeout=2.0).close()
            return True
        except OSError:
            time.sleep(0.2)
    return False


def wait(seconds: float, idle: float) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    deadline = last = time.monotonic()
    deadline += seconds
    while time.monotonic() < deadline and time.monotonic() - last < idle:
        time.sleep(min(5.0, seconds))
        if any(name.isdigit() and int(name) != os.getpid() for name in os.listdir("/proc")):
            last = time.monotonic()
    return 0


# --- an agent's files


class Sender:
    """Sends what globs match, in their order. All of it is an agent's doing, who may be changing it meanwhile."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.bytes = int(request["max_bytes"])
        self.files = int(request["max_files"])
        self.done: set[str] = set(request["done"])
        self.partial: str | None = None  # a file that was cut off, and where
        self.offset = 0
        if request["partial"]:
            self.partial, self.offset = request["partial"]
        self.spoken = time.monotonic()

    def send(self, globs: list[str]) -> None:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        from globs import Glob  # type: ignore[import-not-found]

        if not os.path.isdir(HOME):  # its agent has never begun
            globs = []
        if self.partial:
            self.resume(self.partial.split("/"))
        for text in globs:
            glob = Glob(text)
            self.left = MOST_NAMES
            root = os.open(HOME, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                self.lead(glob, root, "", list(glob.prefix.parts))
            finally:
                os.close(root)
        say({"end": True})

    def resume(self, parts: list[str]) -> None:
        """First of all the rest of the file that was cut off."""
        folder = os.open(HOME, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for part in parts[:-1]:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            self.entry(parts[-1], "/".join(parts), folder, os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))
        except OSError as error:
            self.once("/".join(parts), cut=str(error.strerror))
        finally:
            os.close(folder)

    def lead(self, glob: Any, folder: int, at: str, parts: list[str]) -> None:
        """Go down the folders that a glob names plainly."""
        if not parts:
            self.walk(glob, folder, at, DEPTH)
            return
        path = at + parts[0]
        try:
            found = os.stat(parts[0], dir_fd=folder, follow_symlinks=False)
        except OSError:
            return
        if len(parts) > 1 and not stat.S_ISDIR(found.st_mode):
            self.once(path, refused="a link or no folder")
        elif stat.S_ISDIR(found.st_mode):
            inner = self.enter(parts[0], path, folder)
            if inner is not None:
                try:
                    self.lead(glob, inner, path + "/", parts[1:])
                finally:
                    os.close(inner)
        elif glob.matches(path):
            self.entry(parts[0], path, folder, found)

    def walk(self, glob: Any, folder: int, at: str, depth: int) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = at + entry.name
                if path == "data" or self.left < 0:
                    continue
                self.left -= 1
                self.beat()
                if self.left < 0:
                    self.once(path, cut="too many names; what follows it was left out")
                    return
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if not stat.S_ISDIR(found.st_mode):
                    if glob.matches(path):
                        self.entry(entry.name, path, folder, found)
                elif glob.leads_into(path):
                    if depth == 0:
                        self.once(path, cut="too many folders in each other")
                        continue
                    inner = self.enter(entry.name, path, folder)
                    if inner is not None:
                        try:
                            self.walk(glob, inner, path + "/", depth - 1)
                        finally:
                            os.close(inner)

    def enter(self, name: str, path: str, folder: int) -> int | None:
        """A folder, also one that its agent has locked."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        return self.unlocked(name, path, folder, flags, 0o700)

    def unlocked(self, name: str, path: str, folder: int, flags: int, mode: int) -> int | None:
        for attempt in (1, 2):
            try:
                return os.open(name, flags, dir_fd=folder)
            except OSError as error:
                if error.errno == errno.ENOENT:
                    return None
                if error.errno != errno.EACCES or attempt == 2:
                    self.once(path, refused=str(error.strerror))
                    return None
                with contextlib.suppress(OSError):
                    os.chmod(name, mode, dir_fd=folder)
        return None

    def entry(self, name: str, path: str, folder: int, found: os.stat_result) -> None:
        if path in self.done:
            return
        if stat.S_ISLNK(found.st_mode):
            target = ""
            with contextlib.suppress(OSError):
                target = os.readlink(name, dir_fd=folder)
            self.once(path, refused="a symbolic link to " + ascii(target[:200]))
        elif not stat.S_ISREG(found.st_mode):
            self.once(path, refused="a FIFO" if stat.S_ISFIFO(found.st_mode) else "no regular file")
        else:
            descriptor = self.unlocked(name, path, folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            if descriptor is not None:
                with open(descriptor, "rb", buffering=0) as file:
                    self.file(path, file)

    def file(self, path: str, file: Any) -> None:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            self.once(path, refused="no regular file")
            return
        offset = self.offset if path == self.partial else 0
        self.done.add(path)
        fits = self.files > 0 and found.st_size <= self.bytes
        say({"path": path, "size": found.st_size, "offset": offset, "content": fits})
        if not fits:
            return
        self.files -= 1
        self.bytes -= found.st_size
        file.seek(offset)
        left = found.st_size - offset
        while left > 0:
            content = file.read(min(PIECE, left))
            if not content:
                break
            piece(content)
            left -= len(content)
        piece(b"")
        self.spoken = time.monotonic()

    def once(self, path: str, **words: str) -> None:
        if path not in self.done:
            self.done.add(path)
            say({"path": path, **words})

    def beat(self) -> None:
        if time.monotonic() - self.spoken > HEARTBEAT:
            self.spoken = time.monotonic()
            say({})
            _out.flush()


def give(path: str, offset: int, follow: bool) -> int:
    """A file from a byte on. Whoever follows ends us."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return 0
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return 0
        file.seek(offset)
        spoken = time.monotonic()
        while True:
            content = file.read(PIECE)
            if not content and not follow:
                return 0
            if content or time.monotonic() - spoken > 1.0:  # an empty piece: we are still there
                piece(content)
                _out.flush()
                spoken = time.monotonic()
            else:
                time.sleep(0.2)


# --- public data


def receive() -> int:
    """Take files; what was received whole is noted down, so that nothing comes twice."""
    with open(CLAIM + "/" + JOURNAL + ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two who bring the same data one waits, and finds them there
        os.umask(0o022)
        with open(CLAIM + "/" + JOURNAL, "a+", encoding="ascii") as journal:
            there = _received(journal)
    digest = hashlib.sha256()
    for path in sorted(there):
        size, sha256 = there[path]
        digest.update(path.encode("utf-8", "surrogateescape") + ("\0%d\0%s\n" % (size, sha256)).encode())
    os.sync()
    say({"digest": digest.hexdigest(), "files": len(there)})
    return 0


def _received(journal: IO[str]) -> dict[str, tuple[int, str]]:
    """Size and digest of every file, once all have come."""
    there = {}
    for path, found in _journal(journal):
        there[path] = found
        _beat()
    say({"there": {path: size for path, (size, _) in there.items()}})
    _out.flush()
    while True:
        message = hear()
        if message.get("end"):
            return there
        _take(message, there, journal)


_spoken = [time.monotonic()]


def _beat() -> None:
    if time.monotonic() - _spoken[0] > HEARTBEAT:
        _spoken[0] = time.monotonic()
        say({})
        _out.flush()


def _journal(journal: IO[str]) -> Iterator[tuple[str, tuple[int, str]]]:
    """What is there whole, read again: after a crash of the node a file may lack what the journal says.

    A line that was cut off is followed by a new line.
    """
    journal.seek(0)
    text = journal.read()
    if text and not text.endswith("\n"):
        journal.write("\n")
    for line in text.splitlines():
        try:
            path, size, sha256 = json.loads(line)
            digest = hashlib.sha256()
            with open(os.path.join(CLAIM, "public", path), "rb") as file:
                for content in iter(lambda: file.read(PIECE), b""):
                    digest.update(content)
                    _beat()
        except (ValueError, OSError):
            continue
        if digest.hexdigest() == sha256:
            yield path, (size, sha256)


def _take(message: dict[str, Any], there: dict[str, tuple[int, str]], journal: IO[str]) -> None:
    path, size = str(message["path"]), int(message["size"])
    target = os.path.join(CLAIM, "public", path)
    partial = os.path.join(CLAIM, JOURNAL + ".partial")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(partial, "a+b") as out:
        digest, offset = hashlib.sha256(), 0
        if message.get("ask"):  # large: what came of it before is kept, if it is the same file's
            owner = _owner(partial)
            if owner != path:
                out.truncate(0)
                _own(partial, path)
            out.seek(0)
            for content in iter(lambda: out.read(PIECE), b""):
                digest.update(content)
                offset += len(content)
            say({"offset": offset})
            _out.flush()
        else:
            out.truncate(0)
        left = size - offset
        while left > 0:
            content = _in.read(min(PIECE, left))
            if not content:
                raise EOFError
            out.write(content)
            digest.update(content)
            left -= len(content)
        out.flush()
        if message.get("ask"):
            os.fsync(out.fileno())
    os.replace(partial, target)
    there[path] = size, digest.hexdigest()
    journal.write(json.dumps([path, size, digest.hexdigest()]) + "\n")
    journal.flush()


def _owner(partial: str) -> str:
    try:
        with open(partial + ".of", encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _own(partial: str, path: str) -> None:
    with open(partial + ".of", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(path)


def bundle() -> int:
    """Take the files of one job that are too large for a ConfigMap."""
    size = int(hear()["size"])
    with open(CLAIM + "/files.part", "wb") as out:
        while size > 0:
            content = _in.read(min(PIECE, size))
            if not content:
                raise EOFError
            out.write(content)
            size -= len(content)
        out.flush()
        os.fsync(out.fileno())
    os.replace(CLAIM + "/files.part", CLAIM + "/files.tar.gz")
    say({"end": True})
    return 0


def sizes() -> int:
    for above, _, names in os.walk(DATA):
        for name in names:
            path = os.path.join(above, name)
            say({"path": os.path.relpath(path, DATA), "size": os.stat(path).st_size})
    say({"end": True})
    return 0


# --- the network


def connect(host: str, port: int, seconds: float) -> int:
    """``reached`` once it can be, or ``cut off`` when it could not be three times in a row, or at the end."""
    deadline, misses = time.monotonic() + seconds, 0
    word = "cut off"
    while time.monotonic() < deadline and misses < 3:
        try:
            socket.create_connection((host, port), timeout=1.0).close()
            word, misses = "reached", 0
            time.sleep(0.2)
        except OSError:
            word, misses = "cut off", misses + 1
            time.sleep(0.1)
    with open("/dev/termination-log", "w") as out:
        out.write(word)
    return 0


def main(command: str, *rest: str) -> int:
    if command == "send":
        request = hear()
        Sender(request).send(request["globs"])
        return 0
    if command == "give":
        return give(rest[0], int(rest[1]), "follow" in rest)
    if command == "wait":
        return wait(float(rest[0]), float(rest[1] if len(rest) > 1 else "inf"))
    if command == "connect":
        return connect(rest[0], int(rest[1]), float(rest[2]))
    return {"stage": stage, "receive": receive, "bundle": bundle, "sizes": sizes}[command]()


if __name__ == "__main__":
    try:
        code = main(*sys.argv[1:])
        _out.flush()
    except (BrokenPipeError, EOFError):  # whom we speak with has gone
        os._exit(4)
    sys.exit(code)
