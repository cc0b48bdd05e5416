"""Check that a machine has everything that runs need. Each finding is one line, and each problem comes with its fix.

Only a backend itself knows what it needs, so it is asked through its interface (``preflight``).
"""

from __future__ import annotations

import platform
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from attrs import converters, evolve, field, frozen

from mlecore.data.layout import DataDirs
from mlecore.errors import MlecoreError, redacted
from mlecore.util.units import counted, show_size

if TYPE_CHECKING:
    from mlecore.model.backends import Problem
    from mlecore.model.competition import Competition
    from mlecore.model.leftover import Leftover

DEFAULT_BACKEND = "vm"
_PATIENCE = 60.0  # seconds that a backend's preflight may take

State = Literal["ok", "not set up", "warning", "problem", "unknown"]


@frozen(kw_only=True)
class Finding:
    """The result of one check. "not set up": only some users need it, and nobody asked for it here. "unknown": the
    check could not be done. A warning prevents nothing."""

    area: str
    state: State
    what: str = field(converter=redacted)
    fix: str | None = field(default=None, converter=converters.optional(redacted))


def examine(wanted: Sequence[Competition], dirs: DataDirs, clean: bool = False) -> Iterator[Finding]:
    """Check everything, and what these competitions need. ``clean`` removes leftovers."""
    missing = [
        competition
        for competition in wanted
        if competition.facts.kaggle is not None and dirs.find(competition.id) is None
    ]
    for area, look in (
        ("python", _python),
        ("plugins", _plugins),
        ("kaggle", lambda: _kaggle(missing, dirs)),
        ("disk", lambda: _disk(missing, dirs)),
        ("leftovers", lambda: _leftovers(dirs, clean)),
        ("backends", _backends),
    ):
        yield from _safely(area, look)


def _safely(area: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """A check that fails becomes a finding, and does not end the others."""
    try:
        yield from look()
    except MlecoreError as error:
        state: State = "unknown" if error.exit_code == 3 else "problem"
        yield Finding(area=area, state=state, what=error.message, fix=error.fix)
    except Exception as error:
        yield Finding(area=area, state="unknown", what=f"this check failed: {type(error).__name__}: {error}")


def _python() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {sys.prefix}"
    yield Finding(area="python", state="ok", what=here)
    for line in requires("mlecore") or ():
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            there = version(wanted.name)
        except PackageNotFoundError:
            there = "none"
        if there == "none" or not wanted.specifier.contains(there, prereleases=True):
            what = f"mlecore needs {wanted}, and {there} is installed: scores may differ from the published ones"
            yield Finding(area="python", state="problem", what=what, fix=f"pip install '{wanted}'")


def _plugins() -> Iterator[Finding]:
    from mlecore.plugins.discovery import DISABLE, KINDS, disabled_in_vain, installed

    found = installed()
    numbers = Counter(plugin.kind for plugin in found)
    counts = ", ".join(f"{numbers[kind]} {kind}{'s' * (numbers[kind] > 1)}" for kind in KINDS if numbers[kind])
    yield Finding(area="plugins", state="ok", what=f"installed: {counts or 'none'}")
    for plugin in found:
        what = f"{plugin} is {plugin.state}: {plugin.reason}"
        if plugin.state in ("broken", "incompatible"):
            fix = f"Install a version that works, or: pip uninstall {plugin.distribution}"
            yield Finding(area="plugins", state="problem", what=what, fix=fix)
        elif plugin.state == "shadowed":
            fix = f"Uninstall the one that you do not want; `mlecore plugins show {plugin.name}` shows both"
            yield Finding(area="plugins", state="warning", what=what, fix=fix)
        elif plugin.state == "disabled":
            yield Finding(area="plugins", state="ok", what=what)
    for name in disabled_in_vain():
        what = f"{DISABLE} names {name}, which is not installed"
        yield Finding(area="plugins", state="warning", what=what, fix="`mlecore plugins list` shows the names")


def _kaggle(missing: Sequence[Competition], dirs: DataDirs) -> Iterator[Finding]:
    from mlecore.data.kaggle.client import entered, username
    from mlecore.data.kaggle.errors import NoLogin, rules_page

    asked = [competition for competition in missing if dirs.archive(competition.id) is None]
    try:
        name = username()
    except NoLogin as error:
        state: State = "problem" if asked else "not set up"
        what = error.message + (f"; {counted(len(asked), 'download')} needed" if asked else "")
        yield Finding(area="kaggle", state=state, what=what, fix=error.fix)
        return
    accepted = entered() if asked else set()
    yield Finding(area="kaggle", state="ok", what="logged in" + (f" as {name}" if name else ""))
    for competition in asked:
        facts = competition.facts
        if facts.kaggle in accepted:
            continue
        if facts.closed is not None:
            what = f"{facts.id} can no longer be joined, and this account has not joined it"
            yield Finding(area="kaggle", state="problem", what=what, fix=facts.closed)
        else:
            what = f"the rules of {facts.id} are not accepted yet"
            fix = f"Open {rules_page(str(facts.kaggle))} and accept them"
            yield Finding(area="kaggle", state="problem", what=what, fix=fix)


def _disk(missing: Sequence[Competition], dirs: DataDirs) -> Iterator[Finding]:
    free = shutil.disk_usage(next(folder for folder in (dirs.first, *dirs.first.parents) if folder.exists())).free
    sizes = [competition.facts.size_gb for competition in missing]
    known = sum(size for size in sizes if size is not None) * 1e9
    unknown = sum(size is None for size in sizes)
    needed = 2 * known  # the archive, and what it unpacks to
    what = f"{show_size(free)} free in {dirs.first}"
    if missing:
        about = f"about {show_size(known)}, twice that on disk" if known >= 1e6 else "less than 1 MB"
        what += f"; {counted(len(missing), 'competition')} to download: {about}"
        what += f", and {unknown} of unknown size" if unknown else ""
    if needed > free:
        fix = "Free some space, name another folder with --data, or prepare fewer competitions at a time"
        yield Finding(area="disk", state="problem", what=what, fix=fix)
    else:
        yield Finding(area="disk", state="ok", what=what)


def _leftovers(dirs: DataDirs, clean: bool) -> Iterator[Finding]:
    from mlecore.data.cleanup import leftovers
    from mlecore.plugins.loading import load_extensions

    of_extensions = load_extensions()[0].hook.leftovers(data=dirs.first)
    found = [*leftovers(dirs.first), *chain.from_iterable(of_extensions)]
    for left in found:
        what = f"{left.path}, {show_size(left.bytes)}, {left.why}"
        if left.needed:
            yield Finding(area="leftovers", state="ok", what=what)
        elif not clean:
            yield Finding(area="leftovers", state="warning", what=what, fix="mlecore doctor --clean")
        else:
            yield _removed(left)
    if not found:
        yield Finding(area="leftovers", state="ok", what="none")


def _removed(left: Leftover) -> Finding:
    try:
        left.remove()
    except OSError as error:
        what = f"{left.path} cannot be removed: {error.strerror or error}"
        return Finding(area="leftovers", state="problem", what=what, fix="Remove it.")
    return Finding(area="leftovers", state="ok", what=f"removed {left.path}, {show_size(left.bytes)}")


def examine_backend(name: str, options: Mapping[str, str]) -> Iterator[Finding]:
    """Check one backend with these options in detail, also how it isolates jobs, which may start some."""
    yield from _safely(f"backend {name}", partial(_closely, name, options))


def _closely(name: str, options: Mapping[str, str]) -> Iterator[Finding]:
    from mlecore.plugins.opening import open_backend

    area, backend = f"backend {name}", open_backend(name, options).backend
    problems = backend.preflight()
    yield from _found(area, problems)
    if any(problem.fatal for problem in problems):
        return
    for line in backend.inventory():
        yield Finding(area=area, state="ok", what=line)
    sandbox = backend.describe()
    for limit, enforcement in sandbox.limits().items():
        state: State = "warning" if enforcement.level == "absent" else "ok"
        fix = "Runs are not held to this limit; their records say so." if enforcement.level == "absent" else None
        yield Finding(area=area, state=state, what=f"{limit}: {enforcement.level} ({enforcement.how})", fix=fix)
    for what, words in sandbox.details.items():
        yield Finding(area=area, state="ok", what=f"{what}: {words}")


def _backends() -> Iterator[Finding]:
    from mlecore.plugins.discovery import installed

    names = [plugin.name for plugin in installed("backend") if plugin.state == "ok"]
    looks = {name: _Look(name) for name in names}
    for look in looks.values():
        look.start()
    deadline = time.monotonic() + _PATIENCE
    for name, look in looks.items():
        look.join(max(0.0, deadline - time.monotonic()))
        for finding in _safely(f"backend {name}", partial(_answers, f"backend {name}", look)):
            if finding.state in ("problem", "unknown") and name != DEFAULT_BACKEND:
                finding = evolve(finding, state="not set up")
            yield finding


class _Look(threading.Thread):
    """The preflight of one backend. A daemon thread, so that a backend that hangs does not keep doctor from ending."""

    def __init__(self, name: str) -> None:
        super().__init__(daemon=True)
        self.backend = name
        self.problems: list[Problem] | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.problems = _preflight(self.backend)
        except Exception as error:
            self.error = error
        except SystemExit as error:
            self.error = RuntimeError(f"it called sys.exit({error.code!r})")


def _answers(area: str, look: _Look) -> Iterator[Finding]:
    if look.error is not None:
        raise look.error
    if look.problems is None:
        yield Finding(area=area, state="unknown", what=f"no answer within {_PATIENCE:.0f} seconds")
        return
    yield from _found(area, look.problems)


def _found(area: str, problems: Sequence[Problem]) -> Iterator[Finding]:
    if not any(problem.fatal for problem in problems):
        yield Finding(area=area, state="ok", what="can run agents")
    for problem in problems:
        yield Finding(
            area=area, state="problem" if problem.fatal else "warning", what=problem.description, fix=problem.fix
        )


def _preflight(name: str) -> list[Problem]:
    from mlecore.plugins.opening import open_backend

    return open_backend(name).backend.preflight()
