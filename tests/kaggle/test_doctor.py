"""`mlecore doctor`: each problem with its fix, and nothing that hides another one."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from mle_ext_setup import examination as doctor

from mlecore.data.layout import DataDirs
from mlecore.errors import BackendUnreachable, PluginError
from mlecore.model.backends import Problem


def findings(cli: Any, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    done = cli("doctor", *arguments, "--json")
    return done.returncode, json.loads(done.stdout)


def of(area: str, found: list[dict[str, Any]], state: str) -> list[dict[str, Any]]:
    return [finding for finding in found if finding["area"] == area and finding["state"] == state]


@pytest.mark.slow
def test_no_login_is_a_problem_only_where_kaggle_is_needed(
    kaggle: Any, cli: Any, raw_files: dict[str, bytes], tmp_path: Path
) -> None:
    cli.install("tiny", kaggle.add("tiny", raw_files))
    code, found = findings(cli, "tiny")
    (problem,) = of("kaggle", found, "problem")
    assert code == 1 and "1 download needed" in problem["what"] and "settings" in problem["fix"]
    assert cli("prepare", "tiny", "--archive", str(kaggle.folder / "tiny.zip")).returncode == 0
    _, found = findings(cli, "tiny")
    assert of("kaggle", found, "problem") == [] and len(of("kaggle", found, "not set up")) == 1


def test_a_laptop_is_fine_without_what_nobody_asked_for(kaggle: Any, cli: Any, raw_files: dict[str, bytes]) -> None:
    """No login, and a competition larger than any disk: neither is needed until somebody names it."""
    cli.install("huge", kaggle.add("huge", raw_files), "size_gb = 1e6")
    code, found = findings(cli)
    others = [finding for finding in found if not finding["area"].startswith("backend vm")]
    assert {finding["state"] for finding in others} <= {"ok", "not set up"}
    assert of("kaggle", found, "not set up") and of("disk", found, "ok")
    assert code == (1 if of("backend vm", found, "problem") else 0)


@pytest.mark.slow
def test_rules_not_accepted_and_competitions_that_are_shut_are_named(
    kaggle: Any, token: None, cli: Any, raw_files: dict[str, bytes]
) -> None:
    for name in ("good", "rules", "shut"):
        cli.install(name, kaggle.add(name, raw_files), 'closed = "Ask a participant."' if name == "shut" else "")
    kaggle.accepted = {"good", "another", "and-one-more"}
    code, found = findings(cli, "good", "rules", "shut")
    problems = of("kaggle", found, "problem")
    assert code == 1 and [problem["what"].split()[:4] for problem in problems] == [
        ["the", "rules", "of", "rules"],
        ["shut", "can", "no", "longer"],
    ]
    assert "competitions/rules/rules" in problems[0]["fix"] and problems[1]["fix"] == "Ask a participant."
    assert of("kaggle", found, "ok")[0]["what"] == "logged in as ada"


@pytest.mark.parametrize(
    ("answer", "state", "what"),
    [
        ([], "ok", "can run agents"),
        ([Problem(description="slow", fix="wait", fatal=False)], "warning", "slow"),
        ([Problem(description="no engine", fix="start it")], "problem", "no engine"),
        (BackendUnreachable("no route"), "unknown", "no route"),
        (PluginError("its hook backend failed"), "unknown", "its hook backend failed"),
        (ZeroDivisionError("oops"), "unknown", "this check failed: ZeroDivisionError: oops"),
        (None, "unknown", "no answer within 0 seconds"),
    ],
)
def test_what_a_backend_says_about_itself(
    answer: Any, state: str, what: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preflight(name: str) -> list[Problem]:
        if answer is None:
            time.sleep(5)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    monkeypatch.setattr(doctor, "_preflight", preflight)
    if answer is None:
        monkeypatch.setattr(doctor, "_PATIENCE", 0.2)
    found = [
        finding
        for finding in doctor.examine([], DataDirs((tmp_path,)))
        if finding.area == "backend vm" and finding.state == state
    ]
    assert [finding.what for finding in found] == [what]


@pytest.mark.slow
def test_leftovers_are_shown_and_removed_when_asked(
    cli: Any, raw_files: dict[str, bytes], kaggle: Any, dirs: DataDirs
) -> None:
    cli.install("tiny", kaggle.add("tiny", raw_files))
    trash = dirs.first / "tiny" / "raw.trash"
    trash.mkdir(parents=True)
    _, found = findings(cli, "tiny", "--data", str(dirs.first))
    (left,) = of("leftovers", found, "warning")
    assert str(trash) in left["what"] and left["fix"] == "mlecore doctor --clean" and trash.is_dir()
    _, found = findings(cli, "tiny", "--clean", "--data", str(dirs.first))
    (left,) = of("leftovers", found, "ok")
    assert f"removed {trash}" in left["what"] and not trash.exists()
