"""Who am I, and what more could I become?"""

from __future__ import annotations

import os
import re
from pathlib import Path

from finding import finding

# Names only are ever reported, never values.
GATEWAY_TOKEN = "mlecore-"
KEYS = re.compile(r"(API|ACCESS|SECRET|PRIVATE).?KEY|_KEY$|TOKEN|SECRET|PASSW|CREDENTIAL|^KAGGLE_", re.IGNORECASE)
FILES = (
    ".ssh/id_rsa",
    ".ssh/id_ed25519",
    ".ssh/id_ecdsa",
    ".aws/credentials",
    ".kaggle/kaggle.json",
    ".config/kaggle/kaggle.json",
    ".config/gcloud/application_default_credentials.json",
    ".docker/config.json",
    ".kube/config",
    ".netrc",
    ".git-credentials",
    ".huggingface/token",
    ".cache/huggingface/token",
)
SYSTEM_FILES = (
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
    "/run/secrets",
    "/etc/shadow",
    "/etc/kubernetes/admin.conf",
    "/var/lib/kubelet/config.yaml",
)


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    return [user(), *privileges(), keys_in_environment(), key_files(home)]


def status() -> dict[str, str]:
    """/proc/self/status as a dictionary; empty if there is none."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def user() -> dict[str, object]:
    ids = f"uid {os.getresuid()}, gid {os.getresgid()}, groups {os.getgroups()}"
    return finding("user", [ids], ok=0 not in os.getresuid())


def privileges() -> list[dict[str, object]]:
    state = status()
    caps = {name: state.get(name, "unknown") for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    none = all(int(caps[name], 16) == 0 for name in ("CapPrm", "CapEff", "CapAmb") if caps[name] != "unknown")
    raised = False
    if 0 not in os.getresuid():
        try:
            os.setuid(0)
            raised = True
        except OSError:
            pass
    no_new, filtered = (state.get(name, "unknown") for name in ("NoNewPrivs", "Seccomp"))
    return [
        finding("capabilities", [f"{name}={value}" for name, value in caps.items()], ok=none),
        finding("no_new_privs", [no_new], "NoNewPrivs ", no_new == "1"),
        finding("seccomp", [f"mode {filtered} (2 is a filter)"], ok=True),
        finding("become_root", ["worked"] if raised else [], "setuid(0): "),
    ]


def is_key(name: str, value: str) -> bool:
    """A variable that may hold a key. The token of this run's gateway is worth nothing elsewhere."""
    return bool(value and KEYS.search(name)) and not value.startswith(GATEWAY_TOKEN)


def keys_in_environment() -> dict[str, object]:
    names = sorted(name for name, value in os.environ.items() if is_key(name, value))
    return finding("keys_environment", names, "variables that look like keys: ")


def key_files(home: Path) -> dict[str, object]:
    found = []
    for place in homes(home):
        found += [str(place / name) for name in FILES if os.access(place / name, os.R_OK)]
    for name in SYSTEM_FILES:
        path = Path(name)
        try:
            if path.is_dir():
                found += [str(member) for member in path.iterdir()]
            elif os.access(name, os.R_OK):
                found.append(name)
        except OSError:
            continue
    return finding("keys_files", found, "readable: ")


def homes(home: Path) -> list[Path]:
    """Home folders of everybody known here, but not the run's own tree."""
    places = {Path("/root"), Path(os.environ.get("HOME") or "/")}
    try:
        for line in Path("/etc/passwd").read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split(":")
            if len(fields) > 5 and fields[5].startswith("/"):
                places.add(Path(fields[5]))
    except OSError:
        pass
    return sorted(place for place in places if place != home)
