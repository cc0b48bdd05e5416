"""What stands in the way is said with its fix, before anything starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore.errors import BackendError


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A PATH with nothing but a bubblewrap that does what a script says, or without one."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def only(script: str) -> None:
        for name in ("prlimit", "setpriv", "nsenter", "rm", "chmod", *(("bwrap",) if script else ())):
            path = folder / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return only


def words(lab: Any) -> str:
    return "\n".join(f"{problem.description} -> {problem.fix}" for problem in lab.backend.preflight() if problem.fatal)


def test_without_bubblewrap(make_lab: Callable[..., Any], programs: Callable[[str], None]) -> None:
    programs("")
    lab = make_lab()
    assert "not installed" in words(lab) and "apt-get install bubblewrap" in words(lab)
    with pytest.raises(BackendError, match="isolation=none"):
        lab.start("/bin/true")
    assert words(make_lab(isolation="none")) == ""


def test_with_one_that_lets_the_network_in(make_lab: Callable[..., Any], programs: Callable[[str], None]) -> None:
    programs('while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    if len(Path("/proc/net/dev").read_text().splitlines()) <= 3:
        pytest.skip("this machine has no network that could be seen")
    assert "still sees the machine's" in words(make_lab())


def test_a_state_root_that_cannot_be_had(
    make_lab: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "file" / "state"))
    assert "Set MLECORE_VM_STATE" in words(make_lab(isolation="none"))


def test_without_isolation_it_warns(make_lab: Callable[..., Any]) -> None:
    lab = make_lab(isolation="none")
    problems = lab.backend.preflight([lab.job("/bin/true").resources])
    assert problems and not any(problem.fatal for problem in problems)
    assert "answers included" in problems[0].description
    assert lab.backend.describe().isolation is None and lab.backend.describe().network.level == "absent"


@pytest.mark.sandbox
def test_a_strict_umask_does_not_shut_the_agent_out(lab: Any) -> None:
    before = os.umask(0o077)
    try:
        script = "cat /opt/mlecore/init /etc/passwd /srv/x notes/a >/dev/null && touch notes/b && python -c ''"
        from mlecore.model.agents import Recipe

        recipe = Recipe(files={"/srv/x": b"x"})
        status, output = lab.run(script, files={"notes/a": b"x"}, recipe=recipe)
    finally:
        os.umask(before)
    assert (status.exit_code, output) == (0, "")
