"""The user's package mirrors, wherever packages are installed: variables, pip's options file, npm's .npmrc."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from pathlib import Path

PIP = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT")
NPMRC = ("NPM_CONFIG_USERCONFIG", "npm_config_userconfig")
FILES = ("PIP_CERT", *NPMRC)  # name files, of this machine
_NPM = ("NPM_CONFIG_REGISTRY", "npm_config_registry", *NPMRC)
_UV = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_INSECURE_HOST")


def mirrors(given: Mapping[str, str]) -> dict[str, str]:
    """Variables for pip and npm; empty if no mirror is named. They may hold passwords.

    What ``given``, the environment, does not say is read from pip's options file: that of ``PIP_CONFIG_FILE``, or the
    user's. One that cannot be read counts as empty, as it does for pip. The user's .npmrc counts too, if it names a
    registry.
    """
    found = _options(given) | _npmrc(given) | {name: given[name] for name in (*PIP, *_NPM) if given.get(name)}
    return found if found.keys() - {"PIP_CERT", "PIP_TRUSTED_HOST"} else {}


def mirrors_elsewhere(given: Mapping[str, str]) -> dict[str, str]:
    """Variables for pip, uv and npm on another machine, where the files that some of them name are not."""
    found = {name: value for name, value in mirrors(given).items() if name not in FILES}
    return found | {name: given[name] for name in _UV if given.get(name)}


def npm_variables(given: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that the .npmrc refers to as ``${NAME}``, such as the one with the token of a registry."""
    file = next((given[name] for name in NPMRC if given.get(name)), None)
    try:
        return tuple(re.findall(r"\$\{(\w+)\}", Path(file).read_text(encoding="utf-8"))) if file else ()
    except (OSError, ValueError):
        return ()


def _options(given: Mapping[str, str]) -> dict[str, str]:
    own = Path(given.get("XDG_CONFIG_HOME") or _home(given) / ".config") / "pip" / "pip.conf"
    file = Path(given.get("PIP_CONFIG_FILE") or own)
    parser = configparser.RawConfigParser()
    try:
        if file.is_file():
            parser.read(file, encoding="utf-8")
    except (OSError, ValueError, configparser.Error):
        return {}
    said = {key: value for part in ("global", "install") if part in parser for key, value in parser[part].items()}
    named = {f"PIP_{key.upper().replace('-', '_')}": " ".join(value.split()) for key, value in said.items()}
    return {name: named[name] for name in PIP if named.get(name)}


def _npmrc(given: Mapping[str, str]) -> dict[str, str]:
    """The variable that names the user's .npmrc, unless there is another one, or nothing about registries in it."""
    file = _home(given) / ".npmrc"
    try:
        keys = [line.partition("=")[0].strip() for line in file.read_text().splitlines()] if file.is_file() else []
    except (OSError, ValueError):
        return {}
    counts = any(key.endswith("registry") or key.startswith("//") for key in keys)
    other = any(given.get(name) for name in NPMRC)
    return {"NPM_CONFIG_USERCONFIG": str(file)} if counts and not other else {}


def _home(given: Mapping[str, str]) -> Path:
    return Path(given.get("HOME") or Path.home())
