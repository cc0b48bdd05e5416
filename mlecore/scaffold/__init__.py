"""New plugin packages, written from the templates in this folder.

A template is a text with ``$name``, ``$title``, ``$module``, ``$distribution`` and ``$core`` in it (``$$`` is a dollar
sign); ``module/`` becomes the import package.
"""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from attrs import frozen

from mlecore.errors import UsageError

KINDS = {"competition": "comp", "agent": "agent", "backend": "backend", "detector": "detector"}
_NAME = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_SUFFIX = ".tmpl"


@frozen
class Names:
    """What a new plugin is called, everywhere."""

    kind: str
    name: str  # the entry point's

    @property
    def distribution(self) -> str:
        return re.sub(r"[._-]+", "-", f"mle-{KINDS[self.kind]}-{self.name}").lower()

    @property
    def module(self) -> str:
        return self.distribution.replace("-", "_")

    @property
    def title(self) -> str:
        return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[._-]", self.name))


def names(kind: str, name: str) -> Names:
    """Raises UsageError for a name that cannot be one, or is taken."""
    from mlecore.registry import plugins

    if not _NAME.fullmatch(name) or len(name) > 64:
        raise UsageError(
            f"{name!r} is no name for a plugin: letters and digits, a single dash, dot or underscore between them",
            fix=f"Such as: mlecore new {kind} my-{kind}",
        )
    made = Names(kind, name)
    if name.lower().startswith(f"mle-{KINDS[kind]}-"):
        raise UsageError(
            f"{name!r} repeats the prefix, which comes by itself", fix=f"Name it {name[len(KINDS[kind]) + 5 :]}."
        )
    for plugin in plugins(kind):
        if plugin.name == name or plugin.distribution.lower() == made.distribution:
            raise UsageError(
                f"{kind} {plugin.name} is installed already ({plugin.distribution})", fix="Take another name."
            )
    return made


def write(made: Names, into: Path) -> Path:
    """Write the package into a new folder below ``into``; returns that. Raises UsageError where it exists."""
    folder = into / made.distribution
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} is there already; nothing was written", fix="Remove it, or name another --into.")
    values = {name: getattr(made, name) for name in ("name", "distribution", "module", "title")}
    values["core"] = _core()
    templates = Path(__file__).parent / made.kind
    for template in sorted(templates.rglob(f"*{_SUFFIX}")):
        parts = [made.module if part == "module" else part for part in template.relative_to(templates).parts]
        target = folder.joinpath(*parts).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text(encoding="utf-8")).substitute(values), encoding="utf-8")
    return folder


def _core() -> str:
    """The requirement on this version of mlecore and later ones."""
    from importlib.metadata import version

    return "mlecore>=" + ".".join(version("mlecore").split(".")[:2])
