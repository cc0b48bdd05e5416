"""The environment of a child process: an allow-list, so that no child inherits the user's keys.

Every process that mlecore or a plugin starts gets its environment from ``child_environment``; a test finds those that
do not. Only the gateway is given a model's key, and not in its environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
"""Variables with addresses of proxies. A child that names them gets their passwords, too."""

PIP = ("PIP_*", "UV_*")
NPM = ("NPM_CONFIG_*", "npm_config_*")
"""Settings of installers, addresses of indexes with passwords among them."""

_ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_STATE_HOME"),
    *("XDG_RUNTIME_DIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("NO_PROXY", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    # Python, and what its libraries compute with
    *("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING"),
    *("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONWARNINGS", "PYTHONSAFEPATH"),
    *("OMP_*", "OPENBLAS_*", "MKL_*", "BLIS_*", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_*", "POLARS_MAX_THREADS"),
    *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "MPLCONFIGDIR"),
    *("MLECORE_DATA", "MLECORE_RUNS", "MLECORE_STATE", "MLECORE_VM_STATE", "MLECORE_DISABLE_PLUGINS"),
)


def child_environment(*names: str, source: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of ``source`` (default: this process's environment) that a child process may have.

    ``names`` are allowed besides the usual ones, for this child only; one such as ``LC_*`` stands for all that match.
    Proxies' addresses lose user name and password unless they are among ``names``.
    """
    given = os.environ if source is None else source
    proxies = {name: without_password(given[name]) for name in PROXIES if name in given}
    return proxies | {name: value for name, value in given.items() if _matches(name, (*_ALLOWED, *names))}


def without_password(address: str) -> str:
    """An address without user name and password."""
    head, at, host = address.rpartition("@")
    scheme, slashes, _ = head.partition("://")
    return f"{scheme}{slashes}{host}" if at and slashes else host


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(name == pattern or ("*" in pattern and fnmatchcase(name, pattern)) for pattern in patterns)
