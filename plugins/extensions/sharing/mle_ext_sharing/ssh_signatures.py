"""Signatures with SSH keys, by ``ssh-keygen -Y``, as git signs commits: no service, no new key."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from attrs import frozen

from mlecore.errors import DataError, MlecoreError, UsageError
from mlecore.util.child_environment import child_environment
from mlecore.util.regular import read_regular

NAMESPACE = "mlecore"
LIMIT = 64 * 1024  # bytes of a signature or a public key
_AGENT = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_SK_PROVIDER", "DISPLAY", "TERM")
_SECONDS = 60
_KEY = re.compile(r"with (\S+ key SHA256:[A-Za-z0-9+/]+)")
_NO_PROGRAM = "OpenSSH 8.2 or later is needed: ssh-keygen"


class BadSignature(DataError):
    """A signature that is not one of the content, or not by an allowed signer."""

    exit_code = 1


@frozen(kw_only=True)
class Signer:
    """Who signed: ``name`` as the file of allowed signers has it, None if nobody said whose key it is."""

    name: str | None
    key: str  # type and fingerprint
    principals: tuple[str, ...] = ()  # every name or pattern to which the file gives this key

    def is_same_party(self, other: Signer) -> bool:
        """Do they share a key, or could one person have both names?"""
        if self.key.split()[-1] == other.key.split()[-1]:
            return True
        pairs = [(mine.casefold(), theirs.casefold()) for mine in self.principals for theirs in other.principals]
        return any(fnmatchcase(a, b) or fnmatchcase(b, a) for a, b in pairs)

    def __str__(self) -> str:
        return f"{self.name} ({self.key})" if self.name else f"somebody with the {self.key}"


def sign(content: bytes, key: Path) -> bytes:
    """The signature of ``content``; ssh-keygen asks for the passphrase itself, and finds keys that the agent holds.

    ``key``: the private key, or the public one if the agent holds the private one. Raises UsageError if it cannot be
    used.
    """
    if not key.is_file():
        raise UsageError(f"there is no key {key}", fix="Create one: ssh-keygen -t ed25519")
    with tempfile.TemporaryFile() as source:
        source.write(content)
        source.seek(0)
        try:
            process = subprocess.Popen(
                _keygen("sign", "-f", str(key), "-n", NAMESPACE),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=child_environment(*_AGENT),
            )
        except OSError as error:
            raise UsageError(f"ssh-keygen cannot be started: {error.strerror}", fix=_NO_PROGRAM) from None
        with process:
            assert process.stdout and process.stderr
            last = _shown(process.stderr)
            signature = process.stdout.read(LIMIT)
    if process.returncode:
        _require_named(last)
        raise UsageError(
            f"ssh-keygen could not sign with {key}: {last or f'exit code {process.returncode}'}",
            fix="A key with a passphrase needs a terminal, or: ssh-add KEY; then give --sign its public half.",
        )
    return signature


def _shown(stderr: IO[bytes]) -> str:
    """Pass on what ssh-keygen asks of the user, such as to touch a security key; the last line."""
    last = ""
    for line in stderr:
        text = line.decode(errors="replace").strip()
        if text and not text.startswith("Signing data on"):
            last = text
            if text.startswith(("Confirm user presence", "User presence confirmed")):
                print(text, file=sys.stderr, flush=True)
    return last


def signer_of(content: bytes, signature: bytes, allowed: Path | None) -> Signer:
    """Who signed ``content``; without ``allowed``, any key will do.

    Raises BadSignature, UsageError; MlecoreError if ssh-keygen does not work for this user.
    """
    with _scratch(signature) as path:
        if allowed is None:
            said = _run(["check-novalidate", "-n", NAMESPACE, "-s", str(path)], content)
            return Signer(name=None, key=_key(said))
        try:
            said = _run(["find-principals", "-s", str(path), "-f", str(allowed)], b"")
        except BadSignature:
            key = signer_of(content, signature, None).key
            raise BadSignature(f"its {key} is not one of the allowed signers") from None
        names, reason = said.splitlines(), "nobody"
        for name in names:
            words = ["verify", "-f", str(allowed), "-I", name, "-n", NAMESPACE, "-s", str(path)]
            try:
                key = _key(_run(words, content))
                return Signer(name=name, key=key, principals=(*names, *_principals(key, allowed)))
            except BadSignature as error:
                reason = error.message
        raise BadSignature(reason)


def _principals(key: str, allowed: Path) -> Iterator[str]:
    """Principals of all lines that name the key: ssh-keygen prints those of the first line only."""
    for line in allowed.read_text(errors="replace").splitlines():
        words = [] if line.lstrip().startswith("#") else line.split()
        for word in words[1:]:
            with suppress(ValueError):
                digest = hashlib.sha256(base64.b64decode(word, validate=True)).digest()
                if base64.b64encode(digest).decode().rstrip("=") == key.rpartition("SHA256:")[2]:
                    yield from words[0].strip('"').split(",")


@contextmanager
def allowed_key(key: Path) -> Iterator[Path]:
    """A file of allowed signers with one public key. Raises UsageError if that is not a public key."""
    try:
        text = read_regular(key, LIMIT).decode()
        lines = [line.split(None, 2) for line in text.splitlines() if line.strip()]
        (kind, value, *comment) = lines[0]
        if len(lines) != 1 or not re.fullmatch(r"[a-z0-9@.-]+", kind) or not re.fullmatch(r"[A-Za-z0-9+/=]+", value):
            raise ValueError("it is not one line: TYPE BASE64 COMMENT")
    except (OSError, DataError, ValueError, IndexError) as error:
        raise UsageError(f"{key} is not a public SSH key: {error}", fix="Give the .pub file of the signer.") from None
    name = re.sub(r"[^\w@.+-]", "_", comment[0]) if comment else "the-key-that-you-gave"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "allowed_signers")
        path.write_text(f'{name} namespaces="{NAMESPACE}" {kind} {value}\n')
        yield path


@contextmanager
def _scratch(signature: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "signature")
        path.write_bytes(signature)
        yield path


def _run(words: Sequence[str], content: bytes) -> str:
    """What it prints. Raises BadSignature with the last line of its error."""
    try:
        done = subprocess.run(
            _keygen(*words),
            input=content,
            capture_output=True,
            env=child_environment(),
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise UsageError(f"ssh-keygen cannot be started: {error.strerror}", fix=_NO_PROGRAM) from None
    except subprocess.TimeoutExpired:
        raise DataError(f"ssh-keygen has not answered for {_SECONDS} s") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        _require_named(*lines[:1])
        raise BadSignature(lines[0] if lines else f"ssh-keygen exited with {done.returncode}")
    return done.stdout.decode(errors="replace").strip()


def _key(said: str) -> str:
    found = _KEY.search(said)
    if not found:
        raise BadSignature(f"ssh-keygen answered {said!r}")
    return found[1]


def _keygen(*words: str) -> list[str]:
    """The command. ssh-keygen works only for users with a name, which those of containers often lack: in a user
    namespace they are root, who has one."""
    named = ["ssh-keygen", "-Y", *words]
    import pwd
    import shutil

    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return ["unshare", "--map-root-user", "--", *named] if shutil.which("unshare") else named
    return named


def _require_named(failure: str = "") -> None:
    """Raises MlecoreError if ``failure``, the line of an error, only shows that this user has no name."""
    if failure.startswith(("No user exists for uid", "unshare: ")):
        raise MlecoreError(
            "signatures can be neither created nor verified: ssh-keygen does not work for a user id without a name",
            fix="Use a user with a line in /etc/passwd; in a container, mount a passwd file with such a line.",
        )
