"""What is read of a run within the budget, and what is said of the rest."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import attrs
import pytest
from mle_detector_rules.material import Material, read_material
from scripted_judge import says

from mlecore.controller.instructions import instructions_for
from mlecore.errors import UsageError
from mlecore.model.record import Collected

LINES = "".join(f"step {n:06}\n" for n in range(100_000))  # 1.2 MB


def read(run: Any, budget: int = 100_000, chunk_chars: int = 5000) -> Material:
    return read_material(run, budget=budget, chunk_chars=chunk_chars)


def test_a_large_file_is_sampled_from_beginning_to_end(court: Any) -> None:
    material = read(court.run({"output.log": LINES}))
    places = [chunk.offset or 0 for chunk in material.chunks]
    assert places[0] == 0 and material.chunks[-1].text.endswith("step 099999\n") and places == sorted(places)
    assert {place * 10 // len(LINES) for place in places} == set(range(10))  # each tenth of it
    assert 90_000 < sum(len(chunk.text) for chunk in material.chunks) <= 100_000
    [skipped] = material.not_read
    assert skipped.file == "logs/output.log"
    assert skipped.why == "100,000 of 1,200,000 characters were read: the budget is 100,000 (-D budget)"
    for chunk in material.chunks:  # their places are right
        assert LINES[chunk.offset :].startswith(chunk.text)
        assert chunk.line == LINES.count("\n", 0, chunk.offset) + 1


def test_places_in_the_middle_cannot_be_foreseen_and_do_not_change(court: Any) -> None:
    run = court.run({"output.log": LINES})
    assert read(run).chunks == read(run).chunks
    other = attrs.evolve(run, uid="another")
    assert [chunk.offset for chunk in read(run).chunks[1:-1]] != [chunk.offset for chunk in read(other).chunks[1:-1]]


def test_a_large_file_leaves_room_for_small_ones(court: Any) -> None:
    code = {f"{n}.py": f"print({n})\n" * 100 for n in range(10)}
    material = read(court.run({"output.log": LINES}, code))
    whole = {chunk.file for chunk in material.chunks if chunk.file.endswith(".py")}
    assert len(whole) == 10 and [each.file for each in material.not_read] == ["logs/output.log"]


def test_many_files_are_drawn_by_chance(court: Any) -> None:
    code = {f"{n:03}.py": f"print({n})\n" for n in range(100)}
    material = read(court.run(code=code), budget=40_000)
    files = sorted(chunk.file for chunk in material.chunks)
    assert len(files) == 20 and files[-1] > "code/05" and len(material.not_read) == 80
    assert material.not_read[0].why.startswith("it was not read: the budget is 40,000")


def test_everything_is_read_where_the_budget_allows(court: Any) -> None:
    material = read(court.run({"output.log": LINES}), budget=2_000_000)
    end = 0
    for chunk in material.chunks:
        assert chunk.offset is not None and chunk.offset <= end
        end = chunk.offset + len(chunk.text)
    assert end == len(LINES) and material.not_read == []


def test_a_file_that_does_not_fit_into_memory_is_read_in_windows(court: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("mle_detector_rules.contents._WHOLE", 100_000)
    run = court.run({"output.log": LINES})
    material = read(run, budget=2_000_000)
    assert material.not_read == [] and material.chunks[-1].offset + len(material.chunks[-1].text) == len(LINES)
    assert all(LINES[chunk.offset :].startswith(chunk.text) for chunk in material.chunks)
    assert [each.line for each in material.chunks if each.line is not None] == []  # nobody has counted them
    sampled = read(run)
    assert len(sampled.not_read) == 1 and sampled.chunks[-1].text.endswith("099999\n")
    court.judge(run, says(times=0), budget="50000")
    assert any("| step 0" in user for _, user in court.sent)


@pytest.mark.parametrize("name", ["a.log", "a", "a.bin"])
def test_holes_are_left_out(court: Any, name: str) -> None:
    content = b"first\n" + b"\0" * 1_000_000 + b"last \0 line\n"
    [one, two] = read(court.run({name: content}), budget=3_000_000).chunks
    assert (one.text, two.text, two.offset) == ("first\n", "last \0 line\n", 1_000_006)


def test_what_cannot_be_opened_is_named(court: Any) -> None:
    run = court.run({"a.log": "x = 1\n"})
    (run.folder / "logs" / "link.log").symlink_to("/etc/passwd")
    (run.folder / "code" / "data").symlink_to("/etc")
    material = read(run)
    assert [each.file for each in material.not_read] == ["code/data", "logs/link.log"]
    assert [chunk.file for chunk in material.chunks] == ["logs/a.log"]


def test_what_was_not_collected_was_not_read(court: Any) -> None:
    collected = Collected(complete=False, refused=("code/big.bin: 5 bytes, and the limit of 4 leaves 4",))
    [skipped] = read(court.run({"a.log": "x = 1\n"}, collected=collected)).not_read
    assert skipped.why == "a limit cut what was collected: code/big.bin: 5 bytes, and the limit of 4 leaves 4"


def test_the_submission_itself_is_not_read(court: Any) -> None:
    run = court.run(files={"submission/submission.csv": "id,text\n1,hello\n", "submission/make.py": "x = 1\n"})
    assert [chunk.file for chunk in read(run).chunks] == ["submission/make.py"]


def test_the_budget_is_an_option(court: Any, by_rule: Any) -> None:
    run = court.run({"output.log": LINES})
    found = court.judge(run, says(times=0), budget="20000")
    assert {finding.verdict for finding in found.findings} == {"undecided"}
    assert found.findings[0].summary == "1 file not read, or not whole: logs/output.log"
    assert found.not_read[0].why.startswith("20,000 of 1,200,000 characters were read")
    assert sum(len(user) for _, user in court.sent) < 40_000 and found.settings["characters"] <= 20_000
    whole = court.judge(run, says(times=0), budget="1300000", chunk_chars="200000")
    assert {finding.verdict for finding in whole.findings} == {"clean"}
    with pytest.raises(UsageError, match="budget=10 is too small"):
        court.judge(run, budget="10")


# What the judge is told beside it.


def test_the_judge_gets_the_instructions_and_the_rule_on_outside_data(court: Any, tmp_path: Path) -> None:
    run = court.run({"a.log": "x = 1\n"})
    digest = hashlib.sha256(instructions_for(run.limits).text.encode()).hexdigest()
    court.judge(attrs.evolve(run, instructions_digest=digest), says(times=0))
    [(system, _)] = court.sent
    assert "to copy solutions that were published for this competition" in system and "Its instructions:\n" in system
    assert "rule on data from elsewhere: none of its own, so what the instructions say holds" in system
    court.judge(run, says(times=0), external_data="Stanford Dogs are forbidden.")
    [(system, _)] = court.sent
    assert "rule on data from elsewhere: Stanford Dogs are forbidden." in system
    assert "in mlecore's present wording, as the run's own is not known" in system


def test_the_judge_is_asked_about_checks_and_limits(court: Any) -> None:
    court.judge(court.run({"a.log": "x = 1\n"}), says(times=0))
    system = court.sent[0][0]
    assert 'Rule "tampered-with-checks"' in system
    for words in ("validation script", "`init`", "time limit", "snapshots", "gateway", "sandbox"):
        assert words in system.split('Rule "tampered-with-checks"')[1]
