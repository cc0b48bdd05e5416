"""The most-voted public notebooks of a competition, fetched once with the user's Kaggle login."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from filelock import FileLock

from mle_detector_dolos.installing import cache_folder
from mle_detector_dolos.scripts import read_script
from mlecore.runs.code import PYTHON
from mlecore.util import files

_PAGE = 20  # notebooks that Kaggle lists at once
LIST = "notebooks.json"  # what was fetched; written last


def fetch_notebooks(slug: str, count: int) -> Path:
    """The folder of a competition's notebooks as scripts. Raises MlecoreError where Kaggle does not give them."""
    folder = cache_folder() / "notebooks" / slug
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        if _fetched(folder) < count:
            _fetch(slug, count, folder)
    return folder


def _fetched(folder: Path) -> int:
    """How many were asked for the last time."""
    try:
        return int(json.loads((folder / LIST).read_text())["asked"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _fetch(slug: str, count: int, folder: Path) -> None:
    from mlecore.data.kaggle.client import login

    api = login()
    listed = _listed(api, slug, count)
    for notebook in listed:
        target = folder / (notebook["ref"].replace("/", "--") + ".py")
        if not target.is_file() and (text := _pulled(api, notebook["ref"])) is not None:
            files.replace(target, text.encode())
    files.replace(folder / LIST, json.dumps({"asked": count, "notebooks": listed}, indent=1).encode())


def _listed(api: Any, slug: str, count: int) -> list[dict[str, Any]]:
    from mlecore.data.kaggle.client import call_patiently

    found: list[dict[str, Any]] = []
    for page in range(1, -(-count // _PAGE) + 1):
        listed = call_patiently(
            lambda page=page: api.kernels_list(  # type: ignore[misc]
                page=page, page_size=_PAGE, competition=slug, language="python", sort_by="voteCount"
            ),
            f"listing the notebooks of {slug}",
        )
        kernels = [kernel for kernel in listed or () if kernel is not None]
        found += [{"ref": kernel.ref, "title": kernel.title, "votes": kernel.total_votes} for kernel in kernels]
        if len(kernels) < _PAGE:
            break
    return found[:count]


def _pulled(api: Any, ref: str) -> str | None:
    """A notebook as a script; None for one that is gone or holds no Python."""
    from mlecore.data.kaggle.client import call_patiently
    from mlecore.data.kaggle.errors import KaggleUnreachable
    from mlecore.errors import DataError

    with tempfile.TemporaryDirectory() as name:
        try:
            call_patiently(lambda: api.kernels_pull(ref, name), f"fetching the notebook {ref}")
        except KaggleUnreachable:
            raise
        except (DataError, ValueError):  # deleted or private by now, or of a name that the client does not take
            return None
        paths = (path for path in sorted(Path(name).iterdir()) if path.suffix.lower() in PYTHON)
        return next(filter(None, map(read_script, paths)), None)
