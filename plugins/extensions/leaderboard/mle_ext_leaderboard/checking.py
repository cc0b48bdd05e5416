"""Everything that is checked of one entry, as a list of remarks."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import evolve, field, frozen
from mle_ext_sharing.bundle import FILES, HEAD, SIGNATURE, OpenBundle, Opened, WrongBundle, open_bundle
from mle_ext_sharing.signed import Signed, read_signatures

from mle_ext_leaderboard import entry as entry_file
from mle_ext_leaderboard import results as results_file
from mle_ext_leaderboard import statements
from mle_ext_leaderboard.board import SIGNERS, Board
from mle_ext_leaderboard.disclosures import Line, compare
from mle_ext_leaderboard.duplicates import Known, duplicates
from mle_ext_leaderboard.entry import SIGNED, Entry
from mle_ext_leaderboard.results import Results, read_results, results_of
from mle_ext_leaderboard.rules import Level, Remark, apply_rules, rejection
from mle_ext_leaderboard.statements import require_statement
from mlecore.data.layout import DataDirs
from mlecore.errors import MlecoreError, UsageError
from mlecore.util.schema import SchemaError
from mlecore.util.units import counted, first


@frozen(kw_only=True)
class Check:
    """One entry and what was found. Without ``entry`` or ``results``, its file cannot be read."""

    name: str
    entry: Entry | None = None
    results: Results | None = None
    lines: tuple[Line, ...] = ()  # of the form of disclosures
    signed: tuple[Signed, ...] = ()  # whose signatures are right
    opened: bool = False  # was its export read?
    regraded: bool = False  # were its submissions graded again?
    remarks: list[Remark] = field(factory=list)

    @property
    def exit_code(self) -> int:
        levels = {remark.level for remark in self.remarks}
        return 1 if "error" in levels else 3 if "undecided" in levels else 0

    def levels(self, check: str) -> set[Level]:
        """Levels of the remarks of one check."""
        return {remark.level for remark in self.remarks if remark.check == check}


def guarded(name: str, check: Callable[[], Check]) -> Check:
    """An entry's check. Whatever its files bring mlecore to raise rejects that entry, and no other one."""
    try:
        return check()
    except Exception as error:  # of a kind that nobody has thought of
        logging.getLogger(__name__).debug("%s", name, exc_info=True)
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"damaged: {type(error).__name__}: {error} ({Path(where.filename).name}, line {where.lineno})"
        return Check(name=name, remarks=[rejection("schema", words)])


def check_entry(
    board: Board, name: str, known: Known, *, export: Path | None = None, regrade: DataDirs | None = None
) -> Check:
    """Check an entry against its export (``export``: a copy of one that is kept elsewhere) and the rules.

    With ``regrade``, all submissions are graded again on the data that are prepared there.
    """
    quick = check_rules(board, name, known)
    entry, results = quick.entry, quick.results
    if entry is None or entry.export is None or results is None:
        return quick
    remarks = quick.remarks
    if not export and not entry.export.file:
        words = f"its export was not checked: download {entry.export.address}, then check with --export FILE"
        remarks.append(Remark(level="undecided", check="hashes", words=words))
        return quick
    try:
        with open_bundle(export or board.export(name, entry.export.file), entry.export.sha256) as opened:
            remarks += _hashes(opened)
            signed, wrong = signatures(board, opened.source, opened.group)
            remarks += wrong
            if not results.shown_by(results_of(opened.group, entry.export.sha256)):
                words = "results.json is not what the export shows; write it again: mlecore leaderboard add"
                remarks.append(rejection("results", words))
            remarks += _regrade(opened.group, regrade) if regrade else []
    except WrongBundle as error:
        remarks += [rejection("hashes", words) for words in error.found]
        return quick
    except MlecoreError as error:
        remarks.append(rejection("hashes", error.message))
        return quick
    return evolve(quick, signed=tuple(signed), opened=True, regraded=bool(regrade))


def check_rules(board: Board, name: str, known: Known) -> Check:
    """What can be said without the export: schema, disclosures, rules; ``known`` of all entries."""
    remarks: list[Remark] = []
    try:
        entry = board.entry(name)
    except (SchemaError, UsageError) as error:
        return Check(name=name, remarks=[rejection("schema", error.message)])
    remarks += _files(board.entry_folder(name), entry)
    remarks += _about(board, name, entry)
    if entry.export is None or entry.disclosures is None:
        return Check(name=name, entry=entry, remarks=remarks)
    try:
        results = read_results(board.entry_folder(name))
    except SchemaError as error:
        remarks.append(rejection("schema", error.message))
        return Check(name=name, entry=entry, remarks=remarks)
    if results.bundle != entry.export.sha256:
        words = "results.json is of another export than entry.toml names"
        remarks.append(rejection("results", words))
    remarks += duplicates(board, name, known)
    remarks += apply_rules(board.rules, board.sets, entry, results)
    return Check(name=name, entry=entry, results=results, lines=tuple(compare(entry, results)), remarks=remarks)


def signatures(board: Board, export: OpenBundle, group: Path | None) -> tuple[list[Signed], list[Remark]]:
    """Good signatures by allowed signers, and what is wrong with the others. Raises UsageError, DataError."""
    found = read_signatures(export, group, board.allowed)
    level = "error" if board.rules.signed else "warning"
    remarks = [Remark(level=level, check="signature", words=words) for words in found.wrong]  # type: ignore[arg-type]
    if not found.by("ran") and board.rules.signed:
        words = "who ran it has not signed it: mlecore runs export GROUP --sign KEY"
        remarks.append(rejection("signature", words))
    if board.allowed is None and found.signed:
        words = f"whose keys these are is unknown: {SIGNERS} is missing"
        remarks.append(Remark(level=level, check="signature", words=words))  # type: ignore[arg-type]
    return found.signed, remarks


def _about(board: Board, name: str, entry: Entry) -> Iterator[Remark]:
    """A correction or retraction names another entry."""
    if not entry.about:
        return
    try:
        if entry.about == name:
            raise UsageError(f"{name} cannot be about itself")
        old = board.entry(entry.about)
    except (SchemaError, UsageError) as error:
        yield rejection("schema", f"{entry.kind}: {error.message}")
        return
    if old.kind == "retraction":
        yield rejection("schema", f"{entry.about} is a retraction, which stays")
        return
    try:
        require_statement(board, name, entry)
    except MlecoreError as error:
        yield rejection("signature", error.message)


def _files(folder: Path, entry: Entry) -> Iterator[Remark]:
    """Nothing is in its folder that is not of an entry."""
    known = {entry_file.FILE, *([statements.FILE, statements.SIGNATURE] if entry.about else [])}
    known |= {results_file.FILE, entry.export.signed} if entry.export else set()
    extra = sorted({path.name for path in folder.iterdir()} - known)
    if entry.export and entry.export.address and (folder / SIGNED).is_dir():
        with OpenBundle(folder / SIGNED) as source:
            names = {name for name in source.names() if not SIGNATURE.fullmatch(name)} - {HEAD, FILES}
        extra += sorted(f"{SIGNED}/{name}" for name in names)
    for words in first([f"{name!a} is in its folder, but no file of an entry" for name in extra]):
        yield rejection("schema", words)


def _hashes(opened: Opened) -> Iterator[Remark]:
    from mle_ext_sharing.verifying import verify_group

    verdict = verify_group(opened.group, opened.bundle)
    for level, found in (("error", verdict.wrong), ("undecided", verdict.undecided)):
        for words in first(found):
            yield Remark(level=level, check="hashes", words=words)  # type: ignore[arg-type]


def _regrade(group: Path, dirs: DataDirs) -> Iterator[Remark]:
    from mle_ext_sharing.regrade import regrade

    again = regrade(group, dirs)
    for words in first([f"{each.run}: {each.different[0]}" for each in again.different]):
        yield rejection("regrading", words)
    if undecided := again.undecided:
        words = f"{counted(len(undecided), 'run')} could not be graded again here, as {undecided[0].run}: "
        yield Remark(level="undecided", check="regrading", words=words + undecided[0].undecided)
    words = f"graded again: {counted(again.same, 'run')} with the same result"
    yield Remark(level="note", check="regrading", words=words)
