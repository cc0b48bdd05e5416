"""The user's settings of package mirrors, wherever packages are installed: variables, and pip's options file."""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path

PIP = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT")
FILES = ("PIP_CERT", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig")  # name files, of this machine
_NPM = ("NPM_CONFIG_REGISTRY", "npm_config_registry", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig")
_UV = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_INSECURE_HOST")


def mirrors(given: Mapping[str, str]) -> dict[str, str]:
    """Variables for pip and npm; empty if no mirror is named. They may hold passwords.

    What ``given``, the environment, does not say is read from pip's options file: that of ``PIP_CONFIG_FILE``, or the
    user's. One that cannot be read counts as empty, as it does for pip.
    """
    found = _options(given) | {name: given[name] for name in (*PIP, *_NPM) if given.get(name)}
    return found if found.keys() - {"PIP_CERT", "PIP_TRUSTED_HOST"} else {}


def mirrors_elsewhere(given: Mapping[str, str]) -> dict[str, str]:
    """Variables for pip, uv and npm on another machine, where the files that some of them name are not."""
    found = {name: value for name, value in mirrors(given).items() if name not in FILES}
    return found | {name: given[name] for name in _UV if given.get(name)}


def _options(given: Mapping[str, str]) -> dict[str, str]:
    home = Path(given.get("HOME") or Path.home())
    own = Path(given.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
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
