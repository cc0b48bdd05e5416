"""`mlecore demo`: the whole path on small data: prepare, run, grade, report. Needs no account."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from pathlib import Path

import click

# Those that are not installed are left out; the first comes with mlecore.
COMPETITIONS = ("optical-digits", "aerial-cactus-identification", "spaceship-titanic")

WITHOUT_SANDBOX = """
bubblewrap is missing or does not work here, so the agent runs without a sandbox (-B isolation=none).
To install it: `apt-get install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`. It needs user
namespaces."""


@click.command("demo", short_help="Run an agent on small data, from preparing to the report.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("mlecore-demo"),
    show_default=True,
    help="Folder for data, runs and the report.",
)
@click.pass_context
def command(ctx: click.Context, folder: Path) -> None:
    """Prepare small data, run an agent on them in a sandbox, grade and report.

    Takes about a minute once packages are installed, and needs no account. Shows each command before it runs, so that
    you can repeat it yourself.
    """
    from mlecore.plugins.competitions import all_competitions

    known = {competition.id for competition in all_competitions()}
    competitions = [name for name in COMPETITIONS if name in known]
    isolation = [] if _bubblewrap_works() else ["-B", "isolation=none"]
    if isolation:
        click.echo(WITHOUT_SANDBOX)
    group = f"demo-{time.strftime('%H%M%S')}"
    data, runs = ["--data", str(folder / "data")], ["--runs", str(folder / "runs")]
    chosen = [word for name in competitions for word in ("--competition", name)]
    page = folder / "report.html"

    _show(ctx, "prepare", *competitions, "--synthetic", *data)
    limits = ["--time-limit", "10m", "--group", group, "--no-detect"]
    _show(ctx, "run", "--agent", "baseline", *chosen, "--synthetic", *limits, *data, *runs, *isolation)
    _show(ctx, "report", group, *runs, "--output", str(page))

    click.echo(f"\nEvery run's files: {folder / 'runs' / group}/; the report: {page}")
    own = "--agent command -A argv='python my_agent.py' -A pip=pandas --competition optical-digits"
    click.echo(f"Your own agent on the same data:\n  mlecore run {own} {shlex.join([*data, *runs])}")
    click.echo("With a Kaggle account: mlecore doctor, then mlecore prepare spaceship-titanic")


def _show(ctx: click.Context, *words: str) -> None:
    """Print a command and run it; ends the demo if it fails."""
    click.echo(f"\n$ mlecore {shlex.join(words)}")
    if code := ctx.find_root().command.main(args=list(words), prog_name="mlecore", standalone_mode=False):
        ctx.exit(code)


def _bubblewrap_works() -> bool:
    from mlecore.util.child_environment import child_environment

    if not shutil.which("bwrap"):
        return False
    attempt = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "true"]
    return subprocess.run(attempt, env=child_environment(), capture_output=True, check=False).returncode == 0
