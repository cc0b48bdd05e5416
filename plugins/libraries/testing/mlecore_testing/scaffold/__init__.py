"""New plugin packages, written from templates.

``common/`` holds the files of all kinds; each kind here, and each of ``EXAMPLES``, may have a folder of its own. A
template contains ``$name``, ``$title``, ``$module`` and the other names of ``Package.values`` (``$$`` is a dollar
sign). The folder ``module/`` becomes the import package. ``gitignore.tmpl`` becomes .gitignore: build tools leave out
hidden files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from string import Template

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.plugins.discovery import PREFIXES
from mlecore.util import files

DESCRIPTIONS = {
    "agent": "Agent $name: what it does, in one line",
    "backend": "Backend $name: where it runs agents, in one line",
    "detector": "Detector $name: what it finds, in one line",
}
KINDS = tuple(DESCRIPTIONS)
EXAMPLES: dict[str, dict[str, tuple[str, ...]]] = {  # kind -> examples to begin with, the usual one first -> needs
    "agent": {"script": (), "model": ("mle-lib-agents>=0.1",)},
    "backend": {"processes": ("mlecore-jobs>=0.1", "mlecore-sandboxes>=0.1")},
    "detector": {"rule": ()},
}
_HERE = Path(__file__).parent
_NAME = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_SUFFIX = ".tmpl"


@frozen
class Package:
    """A new plugin: its names, and the templates that it is written from."""

    kind: str
    name: str  # the entry point's
    templates: tuple[Path, ...]  # folders, besides common/
    description: str  # one line; may contain $name and $title
    needs: tuple[str, ...] = ()  # requirements, besides mlecore's

    @property
    def distribution(self) -> str:
        return PREFIXES[self.kind] + re.sub(r"[._-]+", "-", self.name).lower()

    @property
    def module(self) -> str:
        return self.distribution.replace("-", "_")

    @property
    def title(self) -> str:
        return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[._-]", self.name))

    @property
    def values(self) -> dict[str, str]:
        """What the names in a template stand for."""
        names = {name: getattr(self, name) for name in ("kind", "name", "distribution", "module", "title")}
        description = Template(self.description).substitute(names)
        return {
            **names,
            "description": description,
            "dependencies": _listed(self.needs),
            "year": str(date.today().year),
        }


def package(kind: str, name: str, example: str | None = None) -> Package:
    """One of ``KINDS``. Raises UsageError for a name that cannot be one, or is taken."""
    example = example or next(iter(EXAMPLES[kind]))
    folders = (_HERE / kind, _HERE / f"{kind}-{example}")
    return checked(Package(kind, name, folders, DESCRIPTIONS[kind], EXAMPLES[kind][example]))


def checked(package: Package) -> Package:
    """The same. Raises UsageError if its name cannot be one, or is taken."""
    from mlecore.plugins.discovery import installed

    kind, name = package.kind, package.name
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise UsageError(
            f"{name!r} is not a plugin's name: letters and digits, a single dash, dot or underscore between them",
            fix=f"Such as: mlecore new {kind} my-{kind}",
        )
    if name.lower().startswith(PREFIXES[kind]):
        raise UsageError(
            f"{name!r} repeats the prefix {PREFIXES[kind]}, which is added to it",
            fix=f"Name it {name[len(PREFIXES[kind]) :]}.",
        )
    for plugin in installed(kind):
        if plugin.name == name or plugin.distribution.lower() == package.distribution:
            raise UsageError(
                f"{kind} {plugin.name} is installed already ({plugin.distribution})", fix="Take another name."
            )
    return package


def write(package: Package, into: Path, more: Mapping[str, str] | None = None) -> Path:
    """Write the package into a new folder below ``into``; returns that. ``more``: further names for its templates.

    Raises UsageError if the folder exists.
    """
    folder = into / package.distribution
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} already exists; nothing was written", fix="Remove it, or name another --into.")
    values = {**package.values, **(more or {})}
    renamed = {"module": package.module, "gitignore.tmpl": ".gitignore.tmpl"}
    with files.output(folder) as new:
        for templates in (_HERE / "common", *package.templates):
            for template in sorted(templates.rglob(f"*{_SUFFIX}")):
                parts = [renamed.get(part, part) for part in template.relative_to(templates).parts]
                target = new.joinpath(*parts).with_suffix("")
                target.parent.mkdir(parents=True, exist_ok=True)
                text = Template(template.read_text(encoding="utf-8")).substitute(values)
                target.write_text(text, encoding="utf-8", newline="\n")
    return folder


def _listed(needs: tuple[str, ...]) -> str:
    """The dependencies, first this version of mlecore and later ones."""
    from importlib.metadata import version

    core = "mlecore>=" + ".".join(version("mlecore").split(".")[:2])
    return ", ".join(f'"{each}"' for each in (core, *needs))
