"""Makes records, plans, grades and findings public: removes secrets from URLs (name and password, query), and the
paths of this machine.

A path becomes ``<path>``, with the file's name where that has an ending: ``<path>/agent.py``. What the file held is in
the record's digests.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from attrs import evolve

from mlecore.model.findings import Findings
from mlecore.model.plan import Plan
from mlecore.model.record import RunRecord
from mlecore.runs.store import Group
from mlecore.util.schema import plain, structure_newer

HIDDEN = "<path>"
_SYSTEM = ("bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "usr")  # the same everywhere
_END = r"\s\"'`:;,|<>()\[\]{}"
_ANY = re.compile(  # the first two are none: URLs, and what a gateway lets through
    rf"(?P<url>\b(?!file:)[a-z][a-z0-9+.-]{{0,20}}://[^\s\"'<>]*)|(?P<route>\b[A-Z]{{3,8}} /[^{_END}]*)"
    rf"|(?:file:/*(?=/)|(?<![\w./*)\]}}~>-])|(?<=\s-[A-Za-z]))~?(?P<path>/[^{_END}]+)|\b[A-Za-z]:\\[^\"'`;,|<>]*"
)
_MODELS = ("model", "models", "answered")
"""Keys with names of models. An endpoint may know one by a path; its last part is the name."""


class Public:
    """Makes what is exported of one group public."""

    def __init__(self, group: Group) -> None:
        given = [agent.options for agent in group.plan.agents]
        given += [group.plan.backend.options, *group.plan.execution.detectors.values()]
        named = [Path(path) for options in given for value in options.values() for path in _paths(str(value))]
        folders = [
            group.folder,
            group.folder.parent,
            Path.cwd(),
            Path.home(),
            Path(sys.prefix),
            *map(Path, group.info.data),
        ]
        folders += [Path(part) for value in os.environ.values() for part in value.split(os.pathsep)]
        folders += [folder for path in named for folder in (path, path.parent)]
        roots = {str(each) for folder in folders for each in _both(folder) if len(each.parts) > 2}
        known = [re.escape(root) for root in sorted(roots, key=len, reverse=True) if not _is_system(root)]
        self._known = re.compile(rf"(?:{'|'.join(known)})(?:/[^{_END}]*|(?![\w.-]))")

    def record(self, record: RunRecord) -> RunRecord:
        """The record without paths, and with its endpoint made public."""
        values = self.values_of(evolve(record, endpoint=_public_url(record.endpoint)).to_json())
        return evolve(RunRecord.from_json(values, record.folder), altered=record.altered)

    def plan(self, plan: Plan) -> Plan:
        """The plan with its agents' endpoints and all options made public."""
        agents = tuple(
            evolve(
                agent,
                endpoint=_public_url(agent.endpoint),
                options=self.values_of(agent.options),
                model=self.values_of(agent.model, "model"),
            )
            for agent in plan.agents
        )
        backend = evolve(plan.backend, options=self.values_of(plan.backend.options))
        detectors = {name: self.values_of(options) for name, options in plan.execution.detectors.items()}
        return evolve(plan, agents=agents, backend=backend, execution=evolve(plan.execution, detectors=detectors))

    def findings(self, found: Findings) -> Findings:
        """The findings with the detector's options and settings made public; quotes keep paths of the sandbox."""
        detector = evolve(found.detector, options=self.values_of(found.detector.options))
        known = structure_newer(Findings, self.text_of(plain(found)))
        return evolve(known, detector=detector, settings=self.values_of(found.settings))

    def text_of(self, value: Any) -> Any:
        """The same values, where only what is known to be a folder of this machine is hidden."""
        return _each_text(value, lambda text, _: self._known.sub(_hidden, text))

    def values_of(self, value: Any, key: str = "") -> Any:
        """The same values, where everything that may be a path of this machine is hidden, and URLs are made public."""

        def text_of(text: str, key: str) -> str:
            if key in _MODELS:
                return model_name(text)
            whole = text.startswith("/") and os.path.lexists(text) and not _is_system(text)  # it may hold spaces
            return HIDDEN + _name(text) if whole else _ANY.sub(_hidden, self._known.sub(_hidden, text))

        return _each_text(value, text_of, key)


def model_name(model: str) -> str:
    """The name of a model that its endpoint knows by a path."""
    return PurePosixPath(model).name if model.startswith("/") else model


def _each_text(value: Any, change: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return change(value, key)
    if isinstance(value, Mapping):
        return {name: _each_text(part, change, name) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each_text(part, change, key) for part in value]
    return value


def _paths(text: str) -> Iterator[str]:
    yield from (found["path"] for found in _ANY.finditer(text) if found["path"])


def _hidden(found: re.Match[str]) -> str:
    groups, text = found.groupdict(), found[0]
    if groups.get("url"):
        return _public_url(text) or ""
    if groups.get("route") or _is_system(groups.get("path") or text):
        return text
    return HIDDEN + _name(text)


def _name(path: str) -> str:
    name = re.split(r"[/\\]", path)[-1]
    return f"/{name}" if re.fullmatch(r"[\w.+-]+\.[A-Za-z]\w{0,4}", name) else ""


def _both(folder: Path) -> Iterable[Path]:
    """As it was named, and without links; none if it is no absolute path."""
    try:
        return (folder, folder.resolve()) if folder.is_absolute() else ()
    except (OSError, ValueError, RuntimeError):
        return ()


def _is_system(path: str) -> bool:
    return path.strip("/").split("/")[0] in _SYSTEM


def _public_url(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
