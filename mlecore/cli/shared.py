"""Options that several commands share, and how tables are printed."""

from __future__ import annotations

import itertools
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlecore.cli.names import COMPETITION, SPLIT
from mlecore.errors import UsageError
from mlecore.util.printable import printable

if TYPE_CHECKING:
    from mlecore.model.competition import Competition
    from mlecore.model.record import RunRecord

_GAP = "  "
_NARROW = 8  # columns that a folded cell has at least
_LONGEST_WORD = 48  # that is kept whole if possible: the name of a competition
_COLOURS = {"gold": 178, "silver": 247, "bronze": 130}  # of 256: to be told apart on black and on white
_MEDAL = re.compile(rf"(?<![\w-])(?<!reference )({'|'.join(_COLOURS)})(?![\w-])")

_Column = tuple[str, ...]  # its heading, and its cells
F = TypeVar("F", bound=Callable[..., Any])


class Folder(click.Path):
    """A folder; not the empty text of a shell variable without a value, which would be the current one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; the current folder is '.'", param, ctx)
        return super().convert(value, param, ctx)


def data_option(function: F) -> F:
    """--data DIR, repeatable: where prepared data lie."""
    return click.option(
        "--data",
        type=Folder(),
        multiple=True,
        help="Data directory; repeatable, new data go to the first. [env MLECORE_DATA; default: user data folder]",
    )(function)


def edition_option(function: F) -> F:
    """--edition v1."""
    return click.option("--edition", default="v1", show_default=True, help="Edition of the competition.")(function)


def competitions_named(*names: str, required: bool = False, help: str | None = None) -> Callable[[F], F]:
    """What names competitions, as an argument or an option: ids, several with commas between them, and those of
    --competitions FILE. The command receives all of them, none twice."""

    def together(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
        words = [*values, *ctx.meta.get(_LISTED, ())]
        found = tuple(dict.fromkeys(id.strip() for word in words for id in word.split(",") if id.strip()))
        if required and not found:
            raise UsageError("no competition is named", fix="Name some, or give --competitions FILE.")
        return found

    def decorated(function: F) -> F:
        function = click.option(
            "--competitions",
            "listed",
            type=click.Path(path_type=Path, dir_okay=False, exists=True),
            metavar="FILE",
            help="File with ids of competitions, one a line; # starts a comment.",
            is_eager=True,
            expose_value=False,
            callback=lambda ctx, _, path: ctx.meta.update({_LISTED: ids_in(path)} if path else {}),
        )(function)
        if help is None:
            return click.argument(*names, type=COMPETITION, nargs=-1, callback=together, metavar="[ID]...")(function)
        words = f"{help}; several: repeat it, or put commas between them."
        return click.option(*names, type=COMPETITION, multiple=True, callback=together, metavar="ID", help=words)(
            function
        )

    return decorated


_LISTED = "mlecore.cli.listed"
_LONGEST_LIST = 2**20  # bytes


def ids_in(path: Path) -> list[str]:
    """Ids of competitions from a file, one a line; # starts a comment. Raises UsageError."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = file.read(_LONGEST_LIST).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    ids = list(filter(None, (line.partition("#")[0].strip() for line in lines)))
    if not ids:
        raise UsageError(f"{path} names no competition", fix="Write one id a line, such as spaceship-titanic.")
    return ids


def split_option(function: F) -> F:
    """--split, repeatable."""
    words = "All competitions of a split (lite, low, medium, high, dev, all, mle-bench-30, or your own); repeatable."
    return click.option("--split", type=SPLIT, multiple=True, help=words)(function)


def choose(ids: Sequence[str], splits: Sequence[str], edition: str) -> list[Competition]:
    """These competitions, and those of the splits that have the edition; none twice. Raises UsageError for none."""
    from mlecore.plugins.competitions import competition, working

    if not ids and not splits:
        raise UsageError("no competition is named", fix="Name some, or give --split or --competitions FILE.")
    installed = [plugin for split in splits for plugin in working(split)]
    for plugin in installed:
        if edition not in plugin.editions:
            click.echo(f"{plugin.name}: skipped, it has no edition {edition}", err=True)
    names = dict.fromkeys([*ids, *(plugin.name for plugin in installed if edition in plugin.editions)])
    if not names:
        raise UsageError("no such competition is installed", fix="To see them: mlecore competitions list")
    return [competition(name, edition) for name in names]


def synthetic_option(function: F) -> F:
    """--synthetic: made-up data instead of the download."""
    return click.option("--synthetic", is_flag=True, help="Use synthetic data: no Kaggle account, no medals.")(function)


def backend_config_option(function: F) -> F:
    """--backend-config FILE: many options of a backend at once."""
    return click.option(
        "--backend-config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="TOML file with options for the backend; -B overrides them.",
    )(function)


def backend_options_of(given: Iterable[str], config: Path | None) -> dict[str, str]:
    """What -B and --backend-config say. Raises UsageError."""
    from mlecore.model.options import pairs, read_options

    return {**(read_options(config) if config is not None else {}), **pairs(given, "-B")}


def json_option(function: F) -> F:
    """--json: machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def runs_option(function: F) -> F:
    """--runs DIR: where groups of runs lie."""
    return click.option(
        "--runs",
        type=Folder(),
        envvar="MLECORE_RUNS",
        default=Path("runs"),
        show_default=True,
        help="Folder of the groups. [env MLECORE_RUNS]",
    )(function)


def in_folder(runs: Path) -> str:
    """What a printed command needs to find its group, also where no variable is set."""
    return "" if runs == Path("runs") else f" --runs {shlex.quote(str(runs))}"


def refuse_swapped(submission: Path, competition_id: str, verb: str) -> None:
    """Raises UsageError if the competition comes before the file."""
    if not submission.exists() and Path(competition_id).is_file():
        words = shlex.join((verb, competition_id, str(submission)))
        raise UsageError("the submission comes first, then the competition", fix=f"mlecore {words}")


def record_json(record: RunRecord) -> dict[str, Any]:
    """A run's record, and its folder."""
    return {**record.to_json(), "folder": str(record.folder)}


def echo(text: str, *, err: bool = False) -> None:
    """Print lines with text from elsewhere; medals are in colour on a terminal."""
    click.echo(medal_style(printable(text, lines=True)), err=err)


def print_json(value: object) -> None:
    """To standard output, indented."""
    import json

    click.echo(json.dumps(value, indent=2, default=str))


def medal_style(text: str) -> str:
    """The words gold, silver and bronze in colour; ``click.echo`` takes that out where there is no terminal."""
    return _MEDAL.sub(lambda word: click.style(word[0], fg=_COLOURS[word[0]], bold=True), text)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], spare: Sequence[str] = ()) -> None:
    """To standard output, the header in bold; fitted to a terminal, whole where something else reads it.

    ``spare``: headings of the columns that a narrow terminal lacks, the most dispensable first.
    """
    first, *rest = table_lines(header, rows, terminal_width(), spare)
    click.echo("\n".join([click.style(first, bold=True), *map(medal_style, rest)]))


def terminal_width() -> int | None:
    """Columns of the terminal that standard output is; None: it is none."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table_lines(
    header: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None, spare: Sequence[str] = ()
) -> list[str]:
    """Columns as wide as their widest cell, nothing cut: fit for grep and a log.

    In ``width`` columns, a table that is too wide leaves out what is the same in every row, then columns of ``spare``,
    at last those on the right, and names them below. Its cells go on in the next line, between words if they can.
    """
    lines = [header, *(row if "".join(row).isprintable() else list(map(printable, row)) for row in rows)]
    columns = list(zip(*lines, strict=True))
    sizes = [max(map(len, column)) for column in columns]
    notes: list[str] = []
    if width is not None and _total(sizes) > width:
        columns, sizes, notes = _fitted(columns, width, spare)
        cells = (map(_folded, line, sizes) for line in zip(*columns, strict=True))
        lines = [part for line in cells for part in itertools.zip_longest(*line, fillvalue="")]
    form = _GAP.join(f"{{:{size}}}" for size in sizes)
    return [form.format(*line).rstrip() for line in lines] + notes


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(_GAP) * (len(sizes) - 1)


def _fitted(columns: list[_Column], width: int, spare: Sequence[str]) -> tuple[list[_Column], list[int], list[str]]:
    """The columns that are shown, their sizes, and lines about the others."""
    same = [column for column in columns[1:] if len(column) > 2 and len({*column[1:]}) == 1]
    shown, absent = [column for column in columns if column not in same], list[str]()
    for column in [column for name in spare for column in shown if column[0] == name]:
        if _total([*map(_unbroken, shown)]) > width:
            shown.remove(column)
            absent.append(column[0])
    while len(shown) > 1 and _total([*map(_narrow, shown)]) > width:
        absent.append(shown.pop()[0])
    sizes = [max(map(len, column)) for column in shown]
    for least in (_unbroken, _narrow):
        more = [size - least(column) for size, column in zip(sizes, shown, strict=True)]
        while _total(sizes) > width and max(more) > 0:
            widest = more.index(max(more))
            more[widest] -= 1
            sizes[widest] -= 1
    alike = [f"{name} {value or '-'}" for name, value, *_ in same]
    found = {"The same in every row": alike, "Left out, as this terminal is narrow": absent}
    notes = [f"{why}: {', '.join(names)}" for why, names in found.items() if names]
    return shown, sizes, [part for note in notes for part in _folded(note, width)]


def _unbroken(column: _Column) -> int:
    """The size at which its words stay whole, and short cells too."""
    longest = max(map(len, column))
    words = max(len(word) for cell in column for word in ("", *cell.split()))
    return longest if longest <= 2 * _NARROW else max(len(column[0]), min(_LONGEST_WORD, words))


def _narrow(column: _Column) -> int:
    return max(len(column[0]), min(_NARROW, max(map(len, column))))


def _folded(cell: str, width: int) -> list[str]:
    """In lines, which end between words, or else after a mark such as a slash."""
    lines = []
    while len(cell) > width:
        if (end := cell.rfind(" ", 1, width + 1)) < 0:
            end = max(cell.rfind(mark, width // 2, width) for mark in "/-_") + 1 or width
        lines.append(cell[:end])
        cell = cell[end:].lstrip()
    return [*lines, cell]
