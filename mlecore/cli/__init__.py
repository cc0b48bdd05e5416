"""The command line: one file per command next to this one, imported when it is used."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

if sys.platform == "win32":
    sys.exit("mlecore runs on Linux and macOS. On Windows, use it in WSL 2 (docs/platforms.md).")

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from mlecore.plugins.entry_points import Point

_COMMANDS = {
    "competitions": "List and inspect installed competitions.",
    "plugins": "List and inspect installed plugins.",
    "prepare": "Prepare the data of competitions.",
    "data": "List, verify and copy prepared data.",
    "run": "Run agents on competitions.",
    "runs": "Inspect, resume, retry, cancel and share runs.",
    "check": "Check that a submission is well-formed; needs no answers.",
    "grade": "Grade submissions against the answers.",
    "detect": "Find rule violations, copied code and leaks in runs.",
}


_NOT_MLECORES = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO),
    *(errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG),
}
"""Errors of a path that the user named, or of the disk."""

_NARROWEST, _WIDEST = 50, 100  # columns of help texts


class Commands(click.Group):
    """A group whose commands are imported when they are used.

    Plugins add commands through the entry-point group mlecore.commands; "runs.export" becomes `mlecore runs export`.
    """

    def __init__(self, *, own: Iterable[str], of: str = "", **more: Any) -> None:
        """``own``: the commands with a file in mlecore/cli/, or in its folder ``of``, in the order of the help text."""
        super().__init__(**more)
        self._own, self._of = [*own], of

    def _names(self, given: Iterable[str]) -> dict[str, str]:
        """Commands of plugins: name in this group -> full name."""
        return {name.rpartition(".")[2]: name for name in sorted(given) if name.rpartition(".")[0] == self._of}

    def provided(self) -> dict[str, Point]:
        """The plugins' commands, by their names in this group."""
        from mlecore.plugins.entry_points import commands

        found = commands()
        return {name: found[whole] for name, whole in self._names(found).items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(dict.fromkeys((*self._own, *self.commands, *self.provided())))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in self._own:
            module = ".".join(filter(None, ("mlecore.cli", self._of, name)))
            command: click.Command = importlib.import_module(module).command
            return command
        if name in self.commands:
            return super().get_command(ctx, name)
        point = self.provided().get(name)
        return None if point is None else _brought(point)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches

            from mlecore.plugins.published import published

            packages = published("command")
            known = self._names(packages)
            if args[0] in known:
                package = packages[known[args[0]]]
                ctx.fail(f"The command {args[0]} comes with a package of its own: pip install {package}")
            near = get_close_matches(args[0], [*self.list_commands(ctx), *known], n=1)
            hint = f"Did you mean {near[0]}?" if near else f"To see them: {ctx.command_path} --help"
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


class _Main(Commands):
    """The command mlecore itself."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from mlecore.util.printable import printable

        packages: dict[str, list[str]] = {}  # summary -> its commands
        for name, point in self.provided().items():
            if name not in _COMMANDS:
                packages.setdefault(printable(f"{point.summary:.100}."), []).append(name)
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items(), *((", ".join(names), text) for text, names in packages.items())])

    def main(self, *arguments: Any, **extra: Any) -> Any:
        """Without secrets in tracebacks, and on streams that can print everything."""
        from mlecore.errors import MlecoreError
        from mlecore.util.printable import print_everything

        sys.excepthook = _show_traceback
        print_everything()
        try:
            return super().main(*arguments, **extra)
        except OSError as error:
            if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # where Python writes what is left when it ends
            with suppress(OSError):
                click.echo(f"Error: nothing more can be written: {error.strerror}", err=True)
            sys.exit(MlecoreError.exit_code)

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Without colours where NO_COLOR asks for that (no-color.org): click itself looks at the terminal only.

        With the width of help texts: click imports shutil to find it, a quarter of what `--help` takes beside click.
        """
        extra["terminal_width"] = max(_NARROWEST, min(_columns(), _WIDEST) - 2)
        if os.environ.get("NO_COLOR"):
            extra["color"] = False
        return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        from mlecore.errors import MlecoreError, UsageError, redacted
        from mlecore.util.printable import printable

        gc.set_threshold(50_000)  # a group is many small values that stay: the default looks at them again and again
        try:
            return super().invoke(ctx)
        except MlecoreError as error:
            click.echo(printable(f"Error: {error}", lines=True), err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(130)
        except OSError as error:
            if error.filename is None or error.errno not in _NOT_MLECORES:
                raise
            click.echo(printable(f"Error: {error.filename}: {error.strerror}"), err=True)
            ctx.exit(UsageError.exit_code)
        except click.ClickException as error:
            error.message = redacted(error.message)  # type: ignore[misc]
            raise


def _show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    import traceback

    from mlecore.errors import redacted

    sys.stderr.write(redacted("".join(traceback.format_exception(kind, error, trace))))


def _columns() -> int:
    """Width of the terminal."""
    with suppress(ValueError):
        if (given := int(os.environ.get("COLUMNS", 0))) > 0:
            return given
    try:
        return os.get_terminal_size().columns or 80
    except (OSError, ValueError):  # standard output is no terminal, or is closed
        return 80


def _brought(point: Point) -> click.Command:
    """A plugin's command. Raises PluginError."""
    from mlecore.errors import PluginError

    try:
        command = point.load()
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
    else:
        if isinstance(command, click.Command):
            return command
        why = f"{point.value} is not a click command"
    raise PluginError(
        f"the command {point.name} of {point.distribution} cannot be used: {why}",
        fix=f"Update {point.distribution}, or uninstall it.",
    )


@click.group(cls=_Main, own=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mlecore")
def main() -> None:
    """Measure how well AI agents do machine-learning engineering.

    Exit codes: 0 success, 1 check failed, 2 usage error, 3 could not decide.
    """


if __name__ == "__main__":
    sys.exit(main())
