"""Before an agent begins: filling its volume, and waiting for its network policy and its gateway."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tarfile
import time

from mle_backend_kubernetes.program.messages import (
    BLOCK,
    CLAIM,
    DATA,
    FILES,
    HOME,
    OUTPUT,
    RUN,
    TERMINATION_LOG,
    TOOLS,
    flush,
    hear,
    hear_bytes,
    say,
)
from mlecore_jobs.hardware import measured

FOLDERS = (".mlecore", "agent", "code", "data", "logs", "submission")
BUNDLE = CLAIM + "/files.tar.gz"  # the run's files, if they are too large for a ConfigMap
GATEWAY_SECONDS = 900.0  # until a run's gateway answers: its image may have to be pulled


def bundle() -> int:
    """Receive the files of a run that are too large for a ConfigMap."""
    left = int(hear()["size"])
    with open(BUNDLE + ".part", "wb") as out:
        while left > 0:
            content = hear_bytes(left)
            out.write(content)
            left -= len(content)
        out.flush()
        os.fsync(out.fileno())
    os.replace(BUNDLE + ".part", BUNDLE)
    say({"end": True})
    flush()
    return 0


def stage() -> int:
    """Fill home and tools, once. If an agent has started in this volume before, that attempt has failed."""
    started = CLAIM + "/started"
    if os.path.exists(started):
        print("an agent has started in this volume before: its pod was evicted", file=sys.stderr)
        return 3
    os.umask(0o022)
    for folder in (HOME, RUN, *(HOME + "/" + name for name in FOLDERS)):
        os.makedirs(folder, exist_ok=True)
    _unpack(BUNDLE if os.path.exists(BUNDLE) else FILES + "/files.tar.gz")
    for name, path in json.loads(os.environ["MLECORE_FROM_DATA"]).items():
        shutil.copyfile(os.path.join(DATA, path), os.path.join(TOOLS, name))
    if os.path.exists(BUNDLE):
        os.unlink(BUNDLE)
    seconds, required = json.loads(os.environ["MLECORE_POLICY"])
    if not _cut_off(seconds) and required:
        print("the run's NetworkPolicy was not in force after %g s" % seconds, file=sys.stderr)
        return 6
    for host, port in json.loads(os.environ["MLECORE_WAIT_FOR"]):
        if not _await_answer(host, port):
            print("the gateway at %s:%d does not answer" % (host, port), file=sys.stderr)
            return 5
    for path in (OUTPUT, started):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
    with open(TERMINATION_LOG, "w") as out:  # the pod's status has it, where no agent can change it
        json.dump(measured(None, None), out)
    os.sync()
    return 0


def _unpack(packed: str) -> None:
    with tarfile.open(packed, "r:gz") as tar:  # trusted: the controller created it
        for member in tar:
            kind, _, path = member.name.partition("/")
            target = os.path.join({"home": HOME, "tools": TOOLS}[kind], path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            source = tar.extractfile(member)
            assert source is not None
            with source, open(target, "wb") as out:
                shutil.copyfileobj(source, out, BLOCK)
            os.chmod(target, member.mode)


def _cut_off(seconds: float) -> bool:
    """Wait until the API server cannot be reached: a policy comes into force after its pod has an address."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ["KUBERNETES_SERVICE_PORT"])
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not reached(host, port, 0.5):
            return True
        time.sleep(0.1)
    return False


def _await_answer(host: str, port: int) -> bool:
    deadline = time.monotonic() + GATEWAY_SECONDS
    while time.monotonic() < deadline:
        if reached(host, port, 2.0):
            return True
        time.sleep(0.2)
    return False


def reached(host: str, port: int, seconds: float = 1.0) -> bool:
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except OSError:
        return False
    return True


def connect(host: str, port: int, seconds: float) -> int:
    """Write ``reached`` or ``cut off`` to the pod's termination message: does a NetworkPolicy hold?

    ``cut off`` is certain after three failures in a row. A connection that succeeds is tried again, for a policy
    comes into force a moment after the pod begins.
    """
    deadline, failures = time.monotonic() + seconds, 0
    word = "cut off"
    while time.monotonic() < deadline and failures < 3:
        if reached(host, port):
            word, failures = "reached", 0
            time.sleep(0.2)
        else:
            word, failures = "cut off", failures + 1
            time.sleep(0.1)
    with open(TERMINATION_LOG, "w") as out:
        out.write(word)
    return 0
