"""`mlecore leaderboard add`: an export becomes an entry, whose disclosures its authors fill in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomli_w
from mle_ext_report.names import names
from mle_ext_sharing.bundle import FILES, HEAD, LIST_LIMIT, SIGNATURE, OpenBundle, open_bundle

from mle_ext_leaderboard import results as results_file
from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.disclosures import HARDWARE
from mle_ext_leaderboard.entry import FILE, SIGNED, is_https
from mle_ext_leaderboard.results import Results, read_results, results_of
from mle_ext_leaderboard.statements import sign
from mlecore.errors import UsageError
from mlecore.runs.store import load_group
from mlecore.util import files

QUESTIONS = {
    "hidden_scores": "were scores on the hidden test set used, in development or to choose runs?",
    "human_help": "did anybody help the agent during a run?",
    "outside_data": "did it use data from elsewhere?",
    "knowledge_base": "did it use a knowledge base, or solutions of competitions?",
    "competition_prompts": "were prompts or options written for single competitions?",
}


def add_result(
    board: Board,
    name: str,
    export: Path,
    *,
    corrects: str = "",
    reason: str = "",
    key: Path | None = None,
    address: str = "",
) -> Path:
    """Add a result, or a correction of one, which ``key`` signs; the entry's folder. Raises UsageError, WrongBundle.

    With ``address``, the export is not copied. If the entry is there already, only its results.json is written again.
    """
    if address and not is_https(address):
        raise UsageError(f"{address!r} is not an https address")
    folder = board.entry_folder(name)
    with OpenBundle(export) as source:
        sha256 = source.digest()
    if (folder / FILE).exists():
        entry = board.entry(name)
        if entry.export is None or entry.export.sha256 != sha256:
            fix = "Entries stay as they are: add a correction under another name, with --corrects."
            raise UsageError(f"the entry {name} already exists, with another export", fix=fix)
        with open_bundle(export, sha256) as opened:
            files.replace(folder / results_file.FILE, results_of(opened.group, sha256).dumps())
        return folder
    with open_bundle(export, sha256) as opened:
        results = results_of(opened.group, sha256)
        agent = names(load_group(opened.group)[:1])[0]
    signed = sign(board, key, name, corrects=corrects, reason=reason, export=sha256) if key else {}
    with files.output(folder) as new:
        new.mkdir(parents=True)
        if address:
            _copy_signatures(export, new / SIGNED)
        place = {"address": address} if address else {"file": _copy(export, new)}
        about = {"corrects": corrects, "reason": reason} if corrects else {}
        text = "".join(_entry(agent, results, about, {**place, "sha256": sha256}))
        for file, content in signed.items():
            (new / file).write_bytes(content)
        (new / results_file.FILE).write_bytes(results.dumps())
        (new / FILE).write_text(text, encoding="utf-8")
        assert read_results(new) == results
    return folder


def add_retraction(board: Board, name: str, retracts: str, reason: str, key: Path) -> Path:
    """Withdraw an entry by another one, which ``key`` signs. Raises UsageError."""
    old = board.entry(retracts)
    folder = board.entry_folder(name)
    if folder.exists():
        raise UsageError(f"the entry {name} already exists", fix="Use another name.")
    signed = sign(board, key, name, retracts=retracts, reason=reason)
    values = {"authors": list(old.authors), "date": _today(), "retracts": retracts, "reason": reason}
    with files.output(folder) as new:
        new.mkdir(parents=True)
        (new / FILE).write_text(tomli_w.dumps(values), encoding="utf-8")
        for file, content in signed.items():
            (new / file).write_bytes(content)
    return folder


def _copy_signatures(export: Path, to: Path) -> None:
    """The signatures, and the lists that were signed."""
    with OpenBundle(export) as source:
        for name in (HEAD, FILES, *filter(SIGNATURE.fullmatch, source.names())):
            files.make_folder((to / name).parent)
            (to / name).write_bytes(source.whole(name, LIST_LIMIT))


def _copy(export: Path, folder: Path) -> str:
    if export.is_dir():
        shutil.copytree(export, folder / "export", symlinks=True)
        return "export"
    shutil.copyfile(export, folder / "export.zip")
    return "export.zip"


def _entry(agent: str, results: Results, about: dict[str, str], export: dict[str, str]) -> Iterator[str]:
    """entry.toml with what the records show; what only its authors know is commented out, and so missing."""
    version = results.agent.rpartition(", source ")[0].rpartition(" ")[2]
    yield "# Complete the lines with '...', and answer the questions under [disclosures].\n"
    yield _line(
        agent=agent, version=version or "...", authors=["..."], date=_today(), models=list(results.models), **about
    )
    yield '# links = { source = "https://...", paper = "https://..." }\n\n[export]\n'
    yield _line(**export)
    yield "\n[disclosures]\n"
    for key, question in QUESTIONS.items():
        yield f"# {key} = false  # {question}\n"
    seen = results.recorded
    limited = seen.hosts or seen.mcp or seen.server_tools
    yield _line(
        web="open" if "open" in seen.network else "limited" if limited else "none",
        hardware=" / ".join(results.conditions.get(HARDWARE, ("...",))),
        hours=max(run.limit_hours for run in results.runs),
        seeds=list(results.seeds),
    )


def _line(**values: Any) -> str:
    return "".join(
        f"{key} = {tomli_w.dumps({'x': value}).removeprefix('x = ')}"
        if not isinstance(value, list)
        else _list(key, value)
        for key, value in values.items()
    )


def _list(key: str, values: list[Any]) -> str:
    parts = (tomli_w.dumps({"x": value}).removeprefix("x = ").strip() for value in values)
    return f"{key} = [{', '.join(parts)}]\n"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
