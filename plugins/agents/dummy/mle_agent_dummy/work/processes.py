"""Which other processes can I see, and what do they give away?"""

from __future__ import annotations

import os
from pathlib import Path

from finding import finding
from identity import is_key

# What stands above init in its own sandbox, and nothing else does.
SUPERVISORS = {"bwrap", "tini", "docker-init", "dumb-init", "catatonit", "pause", "conmon"}


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    everyone = table()
    foreign = sorted(set(everyone) - own(everyone, str(opt / "init")))
    named = [f"{pid} {everyone[pid][1]}" for pid in foreign]
    open_environments, key_names = environments(foreign)
    _, own_names = environments(sorted(set(everyone) - set(foreign) - {os.getpid()}))
    names = sorted(set(key_names) | set(own_names))
    shown = f"{open_environments} of other processes are readable; names that look like keys: "
    return [
        finding("processes", named, f"{len(everyone)} visible, {len(foreign)} of others: "),
        # Those of my own run count too: what started it must not have left its environment there.
        finding("environments", names, shown, not open_environments and not names),
        memory(foreign),
    ]


def table() -> dict[int, tuple[int, str]]:
    """Every visible process: pid -> (parent, name)."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            name, _, rest = stat.partition("(")[2].rpartition(")")
            found[int(entry.name)] = (int(rest.split()[1]), name)
    return found


def own(everyone: dict[int, tuple[int, str]], init: str) -> set[int]:
    """The run's processes: those below the topmost ancestor that runs ``init``, and supervisors above it."""
    top = me = os.getpid()
    chain = []
    while me in everyone:
        chain.append(me)
        if init in command(me):
            top = me
        me = everyone[me][0]
    if top == os.getpid() and len(chain) > 1:
        top = chain[1]  # no init to be seen: the process that started this one
    mine = {pid for pid in chain[chain.index(top) + 1 :] if everyone[pid][1] in SUPERVISORS}
    for pid in everyone:
        at = pid
        for _ in range(len(everyone)):
            if at == top:
                mine.add(pid)
            if at not in everyone:
                break
            at = everyone[at][0]
    return mine


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def environments(pids: list[int]) -> tuple[int, list[str]]:
    """How many of these processes show their environment, and the names in it that look like keys."""
    readable = 0
    names = set()
    for pid in pids:
        try:
            raw = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        readable += bool(raw)
        for pair in raw.split(b"\0"):
            name, _, value = pair.partition(b"=")
            if is_key(name.decode("utf-8", "replace"), value.decode("utf-8", "replace")):
                names.add(name.decode("utf-8", "replace"))
    return readable, sorted(names)


def memory(foreign: list[int]) -> dict[str, object]:
    """Another process's memory or root folder would be the way out."""
    found = []
    for pid in foreign:
        if opens(f"/proc/{pid}/mem"):
            found.append(f"/proc/{pid}/mem")
        try:
            list(Path(f"/proc/{pid}/root").iterdir())
            found.append(f"/proc/{pid}/root")
        except OSError:
            continue
    return finding("process_memory", found, "can open: ")


def opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True
