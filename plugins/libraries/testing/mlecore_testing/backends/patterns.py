"""What globs match, as a table: tested for ``mlecore.util.globs``, and as a rule for every backend."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore_testing.backends.harness import BackendBench, files
from mlecore_testing.rules import Broken

TREE = (
    "top.csv",
    "code/main.py",
    "logs/A1.txt",
    "logs/a1.txt",
    "logs/a[1].txt",
    "logs/best.csv",
    "logs/run-1/best.csv",
    "logs/run-2/best.csv",
    "submission/.hidden.csv",
    "submission/deep/b.csv",
    "submission/deep/deeper/c.csv",
    "submission/submission.csv",
)
_BELOW = tuple(path for path in TREE if path.startswith("submission/"))

TABLE: dict[str, tuple[str, ...]] = {
    "submission/submission.csv": ("submission/submission.csv",),
    "./submission//submission.csv": ("submission/submission.csv",),
    "submission": _BELOW,
    "submission/": _BELOW,
    "submission/*": _BELOW,
    "submission/**": _BELOW,
    "submission/**/*": _BELOW,
    "submission/*.csv": ("submission/.hidden.csv", "submission/submission.csv"),
    "submission/*/*.csv": ("submission/deep/b.csv",),
    "submission/**/c.csv": ("submission/deep/deeper/c.csv",),
    "submission/**/deeper/**": ("submission/deep/deeper/c.csv",),
    "*.csv": ("top.csv",),
    "*/deep": ("submission/deep/b.csv", "submission/deep/deeper/c.csv"),
    "**/deep": ("submission/deep/b.csv", "submission/deep/deeper/c.csv"),
    "**/*.csv": tuple(path for path in TREE if path.endswith(".csv")),
    "**/best.csv": ("logs/best.csv", "logs/run-1/best.csv", "logs/run-2/best.csv"),
    "**": TREE,
    "*": TREE,
    "logs/*/best.csv": ("logs/run-1/best.csv", "logs/run-2/best.csv"),
    "logs/**/best.csv": ("logs/best.csv", "logs/run-1/best.csv", "logs/run-2/best.csv"),
    "logs/run-[2-9]/best.csv": ("logs/run-2/best.csv",),
    "logs/run-[!1]": ("logs/run-2/best.csv",),
    "logs/a?.txt": ("logs/a1.txt",),
    "logs/a[1].txt": ("logs/a1.txt",),
    "logs/a[[]1].txt": ("logs/a[1].txt",),
    "logs/run": (),
    "missing/**": (),
    "data": (),
    "data/**": (),
    "data/train.csv": (),
}

NO_GLOBS = ("", ".", "/", "/etc/passwd", "..", "../*", "logs/../../*", "logs\n")


def patterns(bench: BackendBench) -> Iterator[Broken]:
    handle, _ = bench.run(bench.job("true", files=dict.fromkeys(TREE, b"x")))
    for glob, expected in TABLE.items():
        got = sorted(files(bench.fetch(handle, glob)[0]))
        got = [path for path in got if path in TREE or path.startswith("data/")]
        if got != sorted(expected):
            yield Broken(f"for {glob} it fetched {got}, expected {sorted(expected)}", "fetch()")
    for glob in NO_GLOBS:
        try:
            got = sorted(files(bench.fetch(handle, glob)[0]))
        except ValueError:
            continue
        yield Broken(f"for {glob!r} it fetched {got}, expected Glob's ValueError", "fetch()")
