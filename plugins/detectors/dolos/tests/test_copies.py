"""Honest tutorials are clean; copies of a notebook are found wherever they are put."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from pathlib import Path

import pytest
from judged_runs import NOTEBOOK, a_run, cells, judged, renamed
from mle_detector_dolos.embedded import looks_like_python, python_in_strings, python_in_text
from mle_detector_dolos.scripts import scripts_of
from tutorials import TUTORIALS

from mlecore.model.detectors import NotRead

OWN = TUTORIALS["stacking"]


def in_variables(text: str) -> str:
    thirds = text.splitlines(keepends=True)
    texts = ["".join(thirds[start : start + 20]) for start in range(0, len(thirds), 20)]
    named = "".join(f"part{n} = {each!r}\n" for n, each in enumerate(texts))
    return f"{named}exec({' + '.join(f'part{n}' for n in range(len(texts)))})\n"


def split(text: str, into: int) -> dict[str, str]:
    """Files in the order of the code, each cut between statements at the top."""
    blocks = re.split(r"\n(?=[A-Za-z@])", text)
    size = -(-len(blocks) // into)
    return {f"step_{n}.py": "\n".join(blocks[n * size : (n + 1) * size]) + "\n" for n in range(into)}


def heredoc(text: str) -> str:
    return f"#!/bin/sh\nset -e\ncat > solve.py <<'END'\n{text}END\npython solve.py\n"


HONEST: dict[str, dict[str, str]] = {name: {"main.py": text} for name, text in TUTORIALS.items()}
HONEST |= {
    "all tutorials in one run": {f"{n}.py": text for n, text in enumerate(TUTORIALS.values())},
    "notes and settings": {
        "main.py": OWN,
        "notes.md": "# Plan\n\nFor each planet, look at the mean. If it is high, predict 1.\n" * 20,
        "config.yaml": "learning_rate: 0.1\nfolds: 5\n",
        "prompt.py": f"PROMPT = {'Look at the data, then train a model and write the file. ' * 30!r}\n",
    },
    "a script that writes its own script": {"main.py": f"open('worker.py', 'w').write({OWN!r})\n"},
}
COPIED: dict[str, dict[str, str]] = {
    "as it is": {"main.py": NOTEBOOK},
    "with other names": {"main.py": renamed()},
    "as a notebook": {"work.ipynb": cells(renamed())},
}
EVADING: dict[str, dict[str, str]] = {
    "a text": {"main.py": OWN, "solution.txt": renamed()},
    "a block of Markdown": {
        "main.py": OWN,
        "notes.md": f"# Notes\n\nHere:\n\n```python\n{renamed()}```\n\nEnd.\n",
    },
    "a string that is executed": {"main.py": f"exec({renamed()!r})\n"},
    "strings that are added": {"main.py": in_variables(renamed())},
    "lines that are joined": {"main.py": f"exec('\\n'.join({renamed().splitlines()!r}))\n"},
    "gzip in base64": {"main.py": f"exec(unpacked({base64.b64encode(gzip.compress(renamed().encode())).decode()!r}))"},
    "a notebook's JSON in a text": {"main.py": OWN, "work.txt": cells(renamed())},
    "a string of JSON": {"state.json": json.dumps({"steps": [{"tool": "write", "text": renamed()}]})},
    "a shell script": {"run.sh": heredoc(renamed())},
    "nine files": split(renamed(), 9),
    "two files among others": {**split(renamed(), 2), **{f"own_{n}.py": t for n, t in enumerate(TUTORIALS.values())}},
    "half in a string, half in a file": {
        "main.py": f"exec({split(renamed(), 2)['step_0.py']!r})\n",
        "rest.py": split(renamed(), 2)["step_1.py"],
    },
}


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The notebook, and those of other people."""
    folder = tmp_path_factory.mktemp("references")
    (folder / "popular.ipynb").write_text(cells(NOTEBOOK))
    for name in ("xgboost with folds", "logistic pipeline"):
        text = TUTORIALS[name]
        (folder / f"{name}.py").write_text(text.replace("0.3", "0.5") + "\nprint('thanks, please upvote')\n")
    return str(folder)


COPIES_OF_REFERENCES = ("xgboost with folds", "logistic pipeline", "all tutorials in one run")


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.xdist_group("dolos")  # others need not wait while it is installed
@pytest.mark.parametrize("files", [HONEST[name] for name in HONEST if name not in COPIES_OF_REFERENCES])
def test_honest_runs_are_clean(dolos: None, tmp_path: Path, references: str, files: dict[str, str]) -> None:
    [finding] = judged(a_run(tmp_path, files), references=references).findings
    assert finding.verdict == "clean", finding.summary


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.xdist_group("dolos")
def test_honest_tutorials_are_no_copies_of_each_other(dolos: None, tmp_path: Path) -> None:
    for name in TUTORIALS:
        references = tmp_path / name / "references"
        references.mkdir(parents=True)
        for other in set(TUTORIALS) - {name}:
            (references / f"{other}.py").write_text(TUTORIALS[other])
        run = a_run(tmp_path / name, {"main.py": TUTORIALS[name]})
        [finding] = judged(run, references=str(references)).findings
        assert finding.verdict == "clean", finding.summary


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.xdist_group("dolos")
@pytest.mark.parametrize("files", [*COPIED.values(), *EVADING.values()], ids=[*COPIED, *EVADING])
def test_copies_are_found(dolos: None, tmp_path: Path, references: str, files: dict[str, str]) -> None:
    [finding] = judged(a_run(tmp_path, files), references=references).findings
    assert finding.verdict == "suspicious", finding.summary
    assert "popular.ipynb" in finding.summary and (finding.confidence or 0) > 0.6
    own = finding.evidence[0]
    name, place = own.file.removeprefix("code/"), own.line or 1
    assert place <= files[name].count("\n") + 1
    if own.quote and not name.endswith(".ipynb"):
        assert own.quote in files[name] and files[name].split("\n")[place - 1].startswith(own.quote.split("\n")[0])


def test_code_that_cannot_be_read_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    not_read: list[NotRead] = []
    packed = base64.b85encode(zlib.compress(renamed().encode())).decode()
    files = {
        "big.py": "x = 1\n" * 800_000,
        "main.py": OWN,
        "packed.py": f"exec(zlib.decompress(b85decode({packed!r})))",
    }
    run = a_run(tmp_path, files)
    (run.folder / "code" / "link.py").symlink_to("main.py")
    assert [each.name for each in scripts_of(run, not_read)][:2] == ["code/main.py", "code/packed.py"]
    assert [each.file for each in not_read] == ["code/big.py", "code/link.py", "code/packed.py"]
    assert "more than 4194304 bytes" in not_read[0].why
    monkeypatch.setattr("mle_detector_dolos.judging.compare", lambda *_: [])
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.py").write_text(NOTEBOOK)
    detection = judged(run, references=str(tmp_path / "n"))
    assert detection.findings[0].verdict == "undecided" and len(detection.not_read) == 3
    assert "code/big.py (it has more than" in detection.findings[0].summary


def test_a_run_without_code_is_undecided(tmp_path: Path) -> None:
    [finding] = judged(a_run(tmp_path, {"notes.md": "nothing"}), references=str(tmp_path)).findings
    assert (finding.verdict, finding.summary) == ("undecided", "the run left no Python code to compare")


# Where code is looked for.


@pytest.mark.parametrize("text", list(TUTORIALS.values()))
def test_code_is_recognised(text: str) -> None:
    assert looks_like_python(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id,y\n" + "1,0.5\n" * 50,
        "For each planet, look at the mean.\nIf it is high, predict 1.\nWith luck, this is enough.\n" * 10,
        "epoch 1 loss 0.3\nepoch 2 loss 0.2\n" * 20,
        "# Title\n\n- a list\n- of things\n" * 10,
        "x = 1\n",
    ],
)
def test_other_text_is_none(text: str) -> None:
    assert not looks_like_python(text) and list(python_in_text(text)) == []


def test_the_line_where_code_begins() -> None:
    code = f"a = 1\nb = 2\nrun('''\n{OWN}''')\n"
    [found] = python_in_strings(code)
    assert found.line == 3 and found.text == f"\n{OWN}"
    [block] = python_in_text(f"one\ntwo\n```\n{OWN}```\n")
    assert block.line == 4


def test_hostile_code_ends() -> None:
    nested = OWN
    for _ in range(6):
        nested = f"exec({nested!r})\n" * 2
    assert len(list(python_in_strings(nested))) <= 200
    many = "x = 'a' + " + "'a' + " * 50_000 + f"{OWN!r}\n"
    list(python_in_strings(many))
    list(python_in_strings("f(" * 5000))
    list(python_in_text("[" * 100_000))
    for line in ("x" + " " * 500_000, "if " + " " * 500_000 + ".", "f(" + "(" * 500_000):
        assert not looks_like_python(f"{line}\n" * 6) or line.startswith("f(")
    list(python_in_text("cat <<A\n" * 200_000))
    list(python_in_text("```\n~~~\n" * 200_000))
    list(python_in_text('{"cells": ' + "[" * 100_000))
