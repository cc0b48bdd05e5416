"""What `check` says of entries: good, tampered, false, incomplete, hostile."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from boards import COMPETITIONS, build, call, check
from mle_ext_leaderboard.checking import Check, guarded
from mle_ext_leaderboard.proofs import ROWS

from mlecore.model.record import Replaced
from mlecore.util.printable import printable

pytestmark = pytest.mark.slow


def test_a_good_entry(board: Path, make_export, add) -> None:
    add("alpha", make_export("a"))
    code, said = check(board)
    assert code == 0 and "alpha: accepted" in said and "alice@example.org (ED25519" in said, said


def test_questions_must_be_answered(board: Path, make_export) -> None:
    assert call("add", "alpha", make_export("a"), "--board", board).exit_code == 0
    code, said = check(board)
    assert code == 1 and "disclosures.hidden_scores is missing" in said, said


def test_a_tampered_export(board: Path, make_export, add) -> None:
    """Its grades were improved; hashes, results and statement are of the old ones."""
    path = add("alpha", make_export("a"))
    export = path.parent / "export.zip"
    rewritten = path.parent / "new.zip"
    with zipfile.ZipFile(export) as old, zipfile.ZipFile(rewritten, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename.endswith("grade.json"):
                content = content.replace(b'"any_medal": false', b'"any_medal": true ')
            new.writestr(info, content)
    rewritten.replace(export)
    code, said = check(board)
    assert code == 1 and "error, hashes:" in said and "grade.json: has other content than was exported" in said, said


def test_results_that_the_export_does_not_show(board: Path, make_export, add) -> None:
    path = add("alpha", make_export("a")).parent / "results.json"
    path.write_text(path.read_text().replace('"medal": ""', '"medal": "gold"', 1))
    code, said = check(board)
    assert code == 1 and "results.json is not what the export shows" in said


def test_a_signature_is_needed(board: Path, make_export, add) -> None:
    add("alpha", make_export("a", sign=False))
    code, said = check(board)
    assert code == 1 and "who ran it has not signed it" in said
    rules = board / "leaderboard.toml"
    rules.write_text(rules.read_text().replace("signed = true", "signed = false"))
    assert check(board)[0] == 0


def test_an_unknown_signer(board: Path, make_export, add) -> None:
    add("alpha", make_export("a"))
    (board / "allowed_signers").write_text("# nobody\n")
    code, said = check(board)
    assert code == 1 and "not one of the allowed signers" in said


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"hours": "12.0"}, "hours: the entry says 12, the records say 24"),
        ({"seeds": "[0, 1, 2]"}, "seeds: the entry says 0, 1, 2, the records say 0, 1"),
        ({"hardware": '"1 x H100"'}, "hardware: the entry says 1 x H100, the records say 8 CPUs, 1 x NVIDIA A10"),
        ({"models": '["other"]'}, "models: the entry says other, the records say gpt"),
        ({"web": '"none"'}, "web: the entry says none, the records say open"),
        ({"hidden_scores": "false"}, "hidden scores as a signal: the entry says no, the records say 1 graded results"),
    ],
)
def test_a_false_disclosure(board: Path, make_export, add, answer, edits: dict[str, str], said: str) -> None:
    def change(record):
        limits = evolve(record.limits, network="open")
        forced = ()
        if (record.competition, record.seed) == (COMPETITIONS[0], 0):
            forced = (Replaced(attempt=1, at="2026-01-01T00:00:00+00:00", status="graded", score="0.1"),)
        return evolve(record, limits=limits, model="gpt", forced=forced)

    path = add("alpha", make_export("a", change=change), hidden_scores="true")
    assert check(board)[0] == 0, check(board)[1]
    answer(path, **edits)
    code, words = check(board)
    assert code == 1 and f"error, disclosures: {said}" in words, words


def test_what_is_proven_is_said_alike_everywhere(board: Path, make_export, add, tmp_path: Path) -> None:
    """On the terminal, in the comment, and in the documentation."""
    export = add("alpha", make_export("a")).parent / "export.zip"
    _, said = check(board, "--comment", tmp_path / "c.md")
    page = (Path(__file__).parents[4] / "docs" / "leaderboard.md").read_text()
    for text in (said, (tmp_path / "c.md").read_text(), page):
        assert all(what in text for what in ROWS), text
    assert re.search(r"who vouches for it +proven +the signature of alice@example.org", said), said
    assert re.search(r"scores and medals +claim", said) and re.search(r"took place as recorded +not held", said), said
    export.write_bytes(export.read_bytes()[:2000])
    assert re.search(r"files unchanged since then +wrong", check(board)[1])


def test_missing_runs(board: Path, make_export, add) -> None:
    add("few-seeds", make_export("a", seeds=1))
    code, said = check(board)
    assert code == 1 and "1 seed; at least 2 are needed" in said
    add("few-runs", make_export("b", change=lambda run: evolve(run, state="failed") if run.seed else run))
    code, said = check(board, "few-runs")
    assert code == 1 and "seed 1 has no graded run of" in said, said
    add("few-competitions", make_export("c", competitions=COMPETITIONS[:2]))
    code, said = check(board, "few-competitions")
    assert code == 1 and "no set of competitions is complete; three lacks aerial-cactus-identification" in said


def test_other_rules(board: Path, make_export, add) -> None:
    rules = board / "leaderboard.toml"
    rules.write_text(rules.read_text().replace("max_hours = 24", "max_hours = 12\nmax_usd = 0.5"))
    add("alpha", make_export("a", medals=False))
    code, said = check(board)
    assert code == 1
    for words in ("the time limit was 24 h; at most 12 h", "USD; at most 0.5 USD", "worked on synthetic data"):
        assert words in said, said

    def other_limits(run):
        return evolve(run, limits=evolve(run.limits, time=3600.0 * (1 + run.seed)), seconds=60.0)

    add("mixed", make_export("b", change=other_limits))
    code, said = check(board, "mixed")
    assert code == 1 and "time limit differs between the runs: 1h, 2h" in said, said


def test_an_export_that_is_kept_elsewhere(board: Path, make_export, add) -> None:
    export = make_export("a")
    add("alpha", export, "--address", "https://lab.example.org/a.zip")
    assert not (board / "entries" / "alpha" / "export.zip").exists()
    code, said = check(board)
    assert code == 3 and "download https://lab.example.org/a.zip" in said
    code, said = check(board, "alpha", "--export", export)
    assert code == 0, said
    code, said = check(board, "alpha", "--export", make_export("b"))
    assert code == 1 and "the SHA-256 of its bundle.json is" in said


# hostile entries


def test_an_entry_cannot_be_added_twice(board: Path, make_export, add) -> None:
    export = make_export("a")
    path = add("alpha", export)
    before = path.read_text()
    (path.parent / "results.json").unlink()
    assert call("add", "alpha", export, "--board", board).exit_code == 0  # writes the results again
    assert path.read_text() == before and check(board)[0] == 0
    assert call("add", "alpha", make_export("b"), "--board", board).exit_code == 2


@pytest.mark.parametrize("name", ["..", "/etc", "A", "a/b", "-x", "x" * 200])
def test_names_that_lead_elsewhere(board: Path, make_export, name: str) -> None:
    assert call("add", "--board", board, "--", name, make_export("a")).exit_code == 2
    assert not (board / "entries" / name / "entry.toml").exists()


@pytest.mark.parametrize(
    "line",
    [
        'file = "../../../etc/passwd"',
        'address = "http://a.example/x.zip"',
        'address = "https://user:pass@a.example/x.zip"',
        'address = "file:///etc/passwd"',
    ],
)
def test_exports_that_lead_elsewhere(board: Path, make_export, add, line: str) -> None:
    path = add("alpha", make_export("a"))
    path.write_text(path.read_text().replace('file = "export.zip"', line))
    code, said = check(board)
    assert code == 1 and "error, schema:" in said and "root:" not in said, said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('agent = "baseline"', f'agent = "{"x" * 600}"'),
        ('agent = "baseline"', 'agent = "a\\u001b[31m"'),
        ("hours = 24.0", "hours = inf"),
        ("seeds = [0, 1]", f"seeds = [{'9' * 5000}]"),
        ("# links", 'links = { source = "javascript:alert(1)" } #'),
        ("# links", 'links = { "<b>" = "https://a.example" } #'),
        ("[disclosures]", "[disclosures]\nunknown = 1"),
    ],
)
def test_hostile_forms(board: Path, make_export, add, old: str, new: str) -> None:
    path = add("alpha", make_export("a"))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    code, said = check(board)
    assert code == 1 and "error, schema:" in said and "\x1b" not in said, said
    build(board)


def test_results_of_an_older_version_have_no_percentiles(board: Path, make_export, add) -> None:
    """None at all: not those that its author would rather not show."""
    path = add("alpha", make_export("a")).parent / "results.json"
    values = json.loads(path.read_text())
    values["runs"][0]["percentile"] = None
    path.write_text(json.dumps(values))
    code, said = check(board)
    assert code == 1 and "results.json is not what the export shows" in said
    del values["marks"]
    for run in values["runs"]:
        del run["percentile"]
    path.write_text(json.dumps(values))
    code, said = check(board)
    assert code == 0, said


@pytest.mark.parametrize("content", [b"", b"[" * 10**6, b'{"format": 1}', b"\xff", b'{"hours": 1e999}'])
def test_hostile_results(board: Path, make_export, add, content: bytes) -> None:
    (add("alpha", make_export("a")).parent / "results.json").write_bytes(content)
    code, said = check(board)
    assert code == 1 and "results.json cannot be read" in said, said


@pytest.mark.parametrize(("name", "value"), [("hours", 1e300), ("usd", -1.0), ("percentile", 100.1), ("seed", 10**30)])
def test_huge_numbers(board: Path, make_export, add, name: str, value: float) -> None:
    path = add("alpha", make_export("a")).parent / "results.json"
    values = json.loads(path.read_text())
    values["runs"][0][name] = value
    path.write_text(json.dumps(values))
    code, said = check(board)
    assert code == 1 and ("that cannot be true" in said or "cannot be read" in said), said
    build(board)


def at_the_end(content: bytes) -> bytes:
    """The directory of a zip: compressed in a way that nobody knows."""
    at = content.rindex(b"PK\1\2")
    return content[: at + 10] + b"\x63" + content[at + 11 :]


@pytest.mark.parametrize(
    "damage",
    [
        at_the_end,
        lambda content: content[:2000] + b"\xff" * 500 + content[2500:],
        lambda content: b"",
    ],
)
def test_a_damaged_export_does_not_touch_the_others(
    board: Path, make_export, add, damage: Callable[[bytes], bytes]
) -> None:
    add("alpha", make_export("a"))
    export = add("beta", make_export("b", agent="other")).parent / "export.zip"
    export.write_bytes(damage(export.read_bytes()))
    code, said = check(board)
    assert code == 1 and "alpha: accepted" in said and "beta: rejected" in said, said
    done = call("build", "--board", board, "--to", board.parent / "site")
    assert done.exit_code == 0 and " ranked, in 1 table" in done.output, done.output


@pytest.mark.parametrize("agent", ["one, two", "one, source 2", "one\u202etwo"])
def test_an_agent_s_name_may_be_anything(board: Path, make_export, add, agent: str) -> None:
    path = add("alpha", make_export("a", agent=agent))
    assert tomllib.loads(path.read_text())["agent"] == printable(agent)
    code, said = check(board)
    assert code == 0 and "\u202e" not in said, said
    build(board)
    assert "\u202e" not in (board.parent / "site" / "entries" / "alpha.html").read_text()


def test_what_nobody_has_thought_of_rejects_one_entry() -> None:
    found = guarded("alpha", lambda: Check(name=str(1 // 0)))
    assert found.exit_code == 1 and "damaged: ZeroDivisionError" in found.remarks[0].words


def test_links_are_not_followed(board: Path, make_export, add, tmp_path: Path) -> None:
    path = add("alpha", make_export("a"))
    export = path.parent / "export.zip"
    shutil.move(export, tmp_path / "elsewhere.zip")
    export.symlink_to(tmp_path / "elsewhere.zip")
    code, said = check(board)
    assert code == 1 and "is missing, or a link" in said
    shutil.move(path, tmp_path / "entry.toml")
    path.symlink_to(tmp_path / "entry.toml")
    assert check(board)[0] == 1
    (board / "entries" / "beta").symlink_to(path.parent)
    code, said = check(board, "beta")
    assert code == 1 and "is a link" in said, said


def test_a_comment_is_not_markup(board: Path, make_export, add, tmp_path: Path) -> None:
    add("alpha", make_export("a"), agent='"<img src=x onerror=alert(1)> | [x](javascript:y)"', hardware='"<b>|`x`"')
    code, _ = check(board, "--comment", tmp_path / "c.md")
    text = (tmp_path / "c.md").read_text()
    assert code == 1 and "<b>" not in text.replace("\\<b\\>", "") and "\\<b\\>\\|\\`x\\`" in text, text
