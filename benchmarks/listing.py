"""How fast the command line answers with 100 plugins installed, beside `python -c "import click"`.

    .venv/bin/python benchmarks/listing.py
    .venv/bin/python benchmarks/listing.py --rounds 1

The plugins are 80 competitions, 15 agents and 5 detectors in a folder on PYTHONPATH: distributions with metadata, a
README, entry points, a module as long as real ones, a competition.toml; those that are installed here come on top.
Each module raises when it is imported. Prints seconds, best of all rounds, and the modules that must not be imported
but are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from _measure import python, rounds, run, scratch, table

KINDS = {"competition": 80, "agent": 15, "detector": 5}
HEAVY = ("pandas", "numpy", "sklearn", "scipy", "polars", "docker", "kubernetes", "kaggle")
README = "A line of a README, as distributions carry it in their metadata.\n" * 60
MAIN = "from mlecore.cli import main; main()"
SEEN = f"""
import atexit, sys
atexit.register(lambda: print(*[n for n in {HEAVY} if n in sys.modules], file=sys.stderr))
{MAIN}
"""
HOOKS = {
    "agent": ("agent()", "launch(task)"),
    "detector": ("detector()", "detect(run, group, options)"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    with scratch() as folder:
        install(folder)
        os.environ["PYTHONPATH"] = str(folder)
        os.environ["MLECORE_DATA"] = str(folder / "data")
        steps = {
            "import click": python("import click"),
            "mlecore --help": python(MAIN, "--help"),
            "mlecore plugins list": python(MAIN, "plugins", "list"),
            "mlecore competitions list": python(MAIN, "competitions", "list"),
        }
        measured = rounds({name: partial(run, argv) for name, argv in steps.items()}, args.rounds)
        print(table(measured, limit=["import click"]))
        for words in (["--help"], ["plugins", "list"], ["competitions", "list"]):
            done = subprocess.run(python(SEEN, *words), capture_output=True, text=True, check=True)
            print(
                f"mlecore {' '.join(words)}: {len(done.stdout.splitlines())} lines, imports "
                f"{done.stderr.strip() or 'none of ' + ', '.join(HEAVY)}"
            )


def install(site: Path) -> None:
    """Distributions of one module each, made of files alone."""
    for kind, count in KINDS.items():
        for number in range(count):
            name = f"made-up-{kind}-{number}"
            module = f"bench_{kind}_{number}"
            package = site / module
            package.mkdir()
            (package / "__init__.py").write_text(source(kind, name))
            if kind == "competition":
                (package / "competition.toml").write_text(facts(name))
                (package / "description.md").write_text(real("description.md"))
            info = site / f"{module}-1.0.dist-info"
            info.mkdir()
            head = (
                f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nSummary: {name}\nRequires-Dist: mlecore>=0.0.1\n"
            )
            (info / "METADATA").write_text(f"{head}\n{README}")
            (info / "entry_points.txt").write_text(f"[mlecore.{kind}s]\n{name} = {module}\n")


def source(kind: str, name: str) -> str:
    if kind == "competition":
        text = real("__init__.py")
    else:
        hooks = "".join(f"@hookimpl\ndef {hook}:\n    return None\n\n\n" for hook in HOOKS[kind])
        text = (
            f"from mlecore.hookspecs import hookimpl\n\n\n{hooks}" + "def helper(x):\n    return [x, x + 1]\n\n\n" * 30
        )
    return text + f"\n\nraise ImportError('{name} was imported')\n"


def facts(name: str) -> str:
    return real("competition.toml").replace('id = "spaceship-titanic"', f'id = "{name}"')


def real(file: str) -> str:
    """A file of a competition that is shipped."""
    spec = find_spec("mle_comp_spaceship_titanic")
    if spec is None or spec.origin is None:
        sys.exit("mle-comp-spaceship-titanic is not installed; make env")
    return Path(spec.origin).with_name(file).read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
