"""Does the code of a run use what its competition's facts list as a leak?"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from mlecore.model.detectors import Evidence, Finding, NotRead
from mlecore.model.facts import Facts, Leak
from mlecore.model.record import RunRecord
from mlecore.runs.code import PYTHON, CodeFile, code_files

RULE = "known-leak"
_REMOVES = {"drop", "pop", "remove", "discard", "difference", "isdisjoint"}
_EXCLUDED = re.compile(r"drop|exclu|ignor|leak|skip|unused|remov|forbid|avoid|black_?list|not_", re.IGNORECASE)
_SHOWN = 20  # places
_QUOTE = 300  # characters


def known_leaks(run: RunRecord, facts: Facts, not_read: list[NotRead]) -> Finding:
    """One finding over all leaks of the competition. Code that could not be read is added to ``not_read``."""
    evidence: list[Evidence] = []
    used: list[Leak] = []
    signs = [sign for leak in facts.leaks for sign in leak.signs]
    files = 0
    if signs:
        for file in code_files(run.folder, not_read):
            files += 1
            for sign in dict.fromkeys(signs):
                places = list(uses(file, sign))
                evidence += [_evidence(file, line) for line in places]
                used += [leak for leak in facts.leaks if places and sign in leak.signs]
    listed = [{"file": leak.file, "column": leak.column, "why": leak.why, "score": leak.score} for leak in facts.leaks]
    names = sorted({leak.column or leak.file for leak in used})
    why = f"not all code could be read: {not_read[0].file} ({not_read[0].why})" if not_read else ""
    if signs and not (files or why):
        why = "the run left no code to look at"
    if not names and why:
        return Finding(rule=RULE, verdict="undecided", summary=why, details={"leaks": listed})
    if not names:
        what = "its code uses no known leak" if signs else "no leak is known that its code would show"
        return Finding(rule=RULE, verdict="clean", summary=what, details={"leaks": listed})
    return Finding(
        rule=RULE,
        verdict="suspicious",
        summary=f"its code uses a known leak: {', '.join(names)} ({used[0].why})",
        confidence=0.7,
        evidence=tuple(evidence[:_SHOWN]),
        details={"leaks": listed, "places": len(evidence)},
    )


def _evidence(file: CodeFile, line: int) -> Evidence:
    lines = file.text.split("\n")
    return Evidence(file=file.path, line=line, quote=lines[line - 1].strip()[:_QUOTE])


def uses(file: CodeFile, sign: str) -> Iterator[int]:
    """The lines of a file that use ``sign``: not those that only drop or exclude it, nor comments and prose."""
    if sign not in file.text:
        return
    if file.path.lower().endswith(PYTHON):
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(file.text)
            yield from sorted(set(_used(tree, sign)))
            return
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # what does not parse is read by its lines
    for number, line in enumerate(file.text.split("\n"), 1):
        code = line.split("#")[0].split("//")[0]
        if sign in code and not _EXCLUDED.search(code.replace(sign, "")):
            yield number


def _used(tree: ast.AST, sign: str) -> Iterator[int]:
    """By a walk with a stack of its own, as hostile code may nest deeper than Python recurses."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, excluded = waiting.pop()
        if not excluded and _names(node, sign):
            yield node.lineno  # type: ignore[attr-defined]
        waiting += [(child, excluded or _excludes(node, child)) for child in ast.iter_child_nodes(node)]


def _names(node: ast.AST, sign: str) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return sign in node.value and " " not in node.value  # prose is no use
    if isinstance(node, ast.Attribute):
        return node.attr == sign
    if isinstance(node, ast.Name):
        return node.id == sign
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any(sign == name.name.rpartition(".")[2] for name in node.names)
    return False


def _excludes(node: ast.AST, child: ast.AST) -> bool:
    """Does this statement or expression say that what is in it is left out?"""
    if isinstance(node, ast.Call) and child is not node.func:
        return isinstance(node.func, ast.Attribute) and node.func.attr in _REMOVES
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets: Sequence[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_EXCLUDED.search(_name(target)) for target in targets)
    if isinstance(node, ast.keyword):
        return bool(_EXCLUDED.search(node.arg or ""))
    if isinstance(node, ast.Compare):
        named = isinstance(child, (ast.Constant, ast.List, ast.Tuple, ast.Set))  # not row["x"] != 0, which reads x
        return named and any(isinstance(operator, (ast.NotEq, ast.NotIn)) for operator in node.ops)
    return isinstance(node, ast.Delete)


def _name(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else ""
