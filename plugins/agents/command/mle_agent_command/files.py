"""Which local files are copied along, and how the command line names them in the sandbox.

A Python script comes with the modules next to it that it imports. The copies are in agent/ in the working folder of the
process. Absolute paths are the sandbox's, so that ``bash /home/agent/start.sh`` starts what an image holds, unless they
are below the user's current folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from shutil import which

from mle_agent_command.imports import imported, named
from mlecore.errors import UsageError

AGENT = PurePosixPath("agent")
SKIPPED = {".git", ".venv", "__pycache__", "node_modules"}
GROUP = {"group.json", "events.jsonl"}
MOST = 10_000
INTERPRETERS = {".py": "python", ".sh": "sh", ".bash": "bash", ".r": "Rscript", ".jl": "julia", ".pl": "perl"}
INTERPRETERS |= {".rb": "ruby", ".js": "node", ".ts": "node"}

# Files arrive without their mode, so a file that is executed itself becomes executable there.
START = ("/bin/sh", "-c", 'chmod +x "$0"; exec "$0" "$@"')


def with_files(
    argv: Sequence[str], given: str | None, here: Path, image: bool
) -> tuple[tuple[str, ...], dict[str, Path]]:
    """The command line for the sandbox, and the files it needs there: path relative to home -> local file.

    ``given`` is the option ``files``. Raises UsageError if argv names a script that does not exist.
    """
    here = here.resolve()
    root, files = _folder(given, here) if given is not None else (here, {})
    out = []
    for place, word in enumerate(argv):
        name = _named(word, place == 0, here, root, files)
        if name is not None:
            out.append(name)
            if given is None and name.endswith(".py"):
                script = files[name]
                for path in imported(script):
                    files.setdefault(str(PurePosixPath(name).parent / path.relative_to(script.parent).as_posix()), path)
            continue
        if not image:
            _refuse_missing(argv, place, here, given)
        out.append(word)
    if out[0] != argv[0]:
        out[:1] = [*START, out[0]]
    return tuple(out), files


def missing(files: Mapping[str, Path]) -> tuple[str, ...]:
    """A note about files that the Python scripts among these name but do not bring along, if there are any."""
    modules = [path for path in files.values() if path.suffix == ".py"]
    there = {path.resolve() for path in files.values()}
    lacking = sorted(
        {
            name
            for folder in {path.parent for path in modules}
            for name in named((path for path in modules if path.parent == folder), folder)
            if (folder / name).resolve() not in there
        }
    )
    if not lacking:
        return ()
    what = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
    return (f"its script names {what}, which are not copied; to copy a whole folder: -A files=DIR",)


def _named(word: str, first: bool, here: Path, root: Path, files: dict[str, Path]) -> str | None:
    """How the sandbox calls the local file that ``word`` names; None if it names none. May add to ``files``."""
    if not word or "\0" in word or (first and "/" not in word):  # a bare program is looked up on PATH, as in a shell
        return None
    path = Path(word)
    for base in (here, root):
        local = base / path
        if not local.is_file() or (path.is_absolute() and not local.resolve().is_relative_to(here)):
            continue
        # Under the name that its user gave it, not that of what a link points at.
        inside = Path(*local.parts[len(root.parts) :]) if local.is_relative_to(root) else Path(local.name)
        if ".." in inside.parts:
            inside = Path(local.name)
        name = str(AGENT / PurePosixPath(*inside.parts))
        if files.setdefault(name, local).resolve() != local.resolve():
            raise UsageError(
                f"agent command: {files[name]} and {local} would both become {name}",
                fix="Put them into one folder and name it: -A files=DIR",
            )
        return name
    return None


def _folder(given: str, here: Path) -> tuple[Path, dict[str, Path]]:
    """The folder of option ``files`` and all files in it, except for groups of runs that mlecore wrote there."""
    path = (here / Path(given).expanduser()).resolve()
    if path.is_file():
        return path.parent, {str(AGENT / path.name): path}
    if not path.is_dir():
        raise UsageError(f"agent command: files={given}: there is no {path}", fix="Name a folder or a file.")
    files: dict[str, Path] = {}
    for at, names, members in os.walk(path):
        folder = Path(at)
        if {*members} >= GROUP:  # earlier runs: with their grades an agent would have feedback from the test set
            names.clear()
            continue
        names[:] = sorted(name for name in names if name not in SKIPPED)
        relative = folder.relative_to(path)
        for member in sorted(members):
            if (folder / member).is_file():
                files[str(AGENT / PurePosixPath(*relative.parts) / member)] = folder / member
        if len(files) > MOST:
            raise UsageError(
                f"agent command: files={given} holds more than {MOST:,} files",
                fix="Put the agent's files into a separate folder.",
            )
    if not files:
        raise UsageError(f"agent command: files={given}: {path} is empty", fix="Name the folder of your agent.")
    return path, files


def refuse_script(program: str) -> None:
    """Raise if the program to start is a script's name alone, which would be looked up on PATH, as in a shell."""
    interpreter = INTERPRETERS.get(PurePosixPath(program).suffix.lower())
    if "/" not in program and (interpreter or (Path(program).is_file() and which(program) is None)):
        argv = f"{interpreter} {program}" if interpreter else f"./{program}"
        raise UsageError(f"agent command: argv starts {program}, a file and no program", fix=f"-A argv={argv!r}")


def _refuse_missing(argv: Sequence[str], place: int, here: Path, given: str | None) -> None:
    """Raise if the word to start names no file here, but can only have meant one."""
    word = argv[place]
    path = PurePosixPath(word)
    if path.is_absolute() or path.parts[:1] == (str(AGENT),):
        return
    is_program = place == 0 and "/" in word
    # An interpreter's first argument that is no option is its script; later ones may be files that it writes.
    is_script = place > 0 and path.suffix.lower() in INTERPRETERS and all(w.startswith("-") for w in argv[1:place])
    if is_program or is_script:
        where = f"{here} or {given}" if given else str(here)
        raise UsageError(
            f"agent command: argv names {word}, but there is no such file in {where}",
            fix="Start mlecore in the folder of your script, or name that folder: -A files=DIR",
        )
