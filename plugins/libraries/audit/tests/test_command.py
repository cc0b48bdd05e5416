"""`mlecore audit`: its table, its JSON, its page, its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore_audit import run
from mlecore_audit.command import command
from mlecore_audit.finding import Finding
from mlecore_audit.run import findings, unexamined
from mlecore_audit.subject import Subject
from mlecore_testing.looks import Look

ANSWER = Finding(
    level="answer",
    kind="values",
    file="public/x<b>.csv",
    evidence="its column 'a' is 'digit'",
    score=1.0,
    fix="leave it out: --drop a",
)
CAUTION = Finding(level="caution", kind="range", file="grade", evidence="grade accepts 2")
UNREAD = Finding(level="note", kind="unexamined", file="public/x.zip", evidence="damaged")


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    root = tmp_path / "data" / "optical-digits" / "prepared"
    for part in ("public", "private"):
        (root / part).mkdir(parents=True)
        (root / part / "x").touch()
    monkeypatch.setenv("MLECORE_DATA", str(tmp_path / "data"))
    return CliRunner()


@pytest.mark.parametrize(
    ("found", "code"), [([], 0), ([CAUTION], 0), ([ANSWER, UNREAD], 1), ([CAUTION, UNREAD], 3)], ids=str
)
def test_exit_codes(audited: CliRunner, monkeypatch: pytest.MonkeyPatch, found: list[Finding], code: int) -> None:
    monkeypatch.setattr(run, "audit", lambda *_, **__: found)
    result = audited.invoke(command, ["optical-digits"])
    assert result.exit_code == code, result.output
    assert all(finding.evidence in result.output and (finding.fix or "") in result.output for finding in found)


def test_files_that_are_unread_for_one_reason_are_one_finding() -> None:
    unread = {**{f"public/x.zip!a/{n}.bin": "unknown" for n in range(3)}, "public/x.bin": "unknown"}
    assert [(f.file, f.evidence) for f in unexamined(unread)] == [
        ("public/x.zip!a/0.bin", "unknown; nor could 2 more files *.bin there"),
        ("public/x.bin", "unknown"),
    ]


def test_json_is_a_list_of_findings_and_the_page_escapes(
    audited: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run, "audit", lambda *_, **__: [ANSWER])
    result = audited.invoke(command, ["optical-digits", "--json", "--html", str(tmp_path / "a.html")])
    assert json.loads(result.stdout) == [
        {
            "competition": "optical-digits",
            "level": "answer",
            "kind": "values",
            "file": "public/x<b>.csv",
            "evidence": "its column 'a' is 'digit'",
            "score": 1.0,
            "fix": "leave it out: --drop a",
        }
    ]
    page = (tmp_path / "a.html").read_text()
    assert "public/x&lt;b&gt;.csv" in page
    assert "a submission made from it alone scores 1" in page and "leave it out: --drop a" in page


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.network
def test_the_page_as_readers_see_it(
    audited: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, look: Look
) -> None:
    monkeypatch.setattr(run, "audit", lambda *_, **__: [ANSWER, CAUTION, UNREAD])
    audited.invoke(command, ["optical-digits", "--html", str(tmp_path / "a.html")])
    look("audit", tmp_path / "a.html", bar=".site")


def test_a_library_that_is_not_installed_is_named(
    planted: Callable[..., Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(name="datasketch")

    subject = planted()
    with monkeypatch.context() as patch:
        patch.setattr("mlecore_audit.run.importlib.import_module", missing)
        assert list(findings(subject, "twins")) == []
    assert subject.unexamined == {
        "check twins": "datasketch is not installed; to install it: pip install 'mlecore[audit]'"
    }
