"""What the agent can do. An action takes texts by name and returns what the model observes."""

from __future__ import annotations

import difflib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import commands

LINES = 100  # of a script that one inspection shows


class BadAction(Exception):
    """The action cannot be done; the text says why."""


class Action(NamedTuple):
    """One of them: what it is for, its arguments with what each of them says, and the function."""

    what: str
    arguments: dict[str, str]
    do: Callable[..., str]


class Desk:
    """The folder in which the agent works. ``ask`` puts a text to the model that edits and understands."""

    def __init__(self, home: Path, ask: Callable[[str], str], shown: int, timeout: float) -> None:
        self.home = home
        self.ask = ask
        self.shown = shown  # characters of a file or an output that are shown
        self.timeout = timeout  # seconds of a script
        self.backups: dict[Path, list[bytes | None]] = {}  # earlier contents; None: there was no file

    def actions(self) -> dict[str, Action]:
        """All but those that the loop handles: Reflection and Final Answer."""
        file = "path of a file"
        return {
            "List Files": Action("Lists a folder.", {"dir_path": "path of a folder"}, self.list_files),
            "Read File": Action("Shows a file from its beginning.", {"file_name": file}, self.read),
            "Write File": Action(
                "Writes a whole file.", {"file_name": file, "content": "all that it is to hold"}, self.write
            ),
            "Append File": Action("Adds to a file.", {"file_name": file, "content": "what to add"}, self.append),
            "Copy File": Action("Copies a file.", {"source": file, "destination": file}, self.copy),
            "Undo Edit Script": Action("Takes back the last change of a file.", {"script_name": file}, self.undo),
            "Execute Script": Action("Runs a Python script that exists.", {"script_name": file}, self.execute),
            "Inspect Script Lines": Action(
                f"Shows lines of a file, {LINES} at most.",
                {"script_name": file, "start_line_number": "number", "end_line_number": "number"},
                self.inspect,
            ),
            "Understand File": Action(
                "Has a whole file read by a model, which reports what you look for.",
                {"file_name": file, "things_to_look_for": "what you want to know, in full sentences"},
                self.understand,
            ),
            "Edit Script (AI)": Action(
                "Has a script edited by a model, and shows the difference.",
                {"script_name": file, "edit_instruction": "what to change, in detail", "save_name": "where to save it"},
                self.edit,
            ),
            "Validate Submission": Action(
                "Says whether submission/submission.csv is well-formed; it does not know the answers.",
                {},
                self.validate,
            ),
        }

    def list_files(self, dir_path: str) -> str:
        folder = self._path(dir_path)
        if not folder.is_dir():
            raise BadAction(f"There is no folder {dir_path}.")
        names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in folder.iterdir())
        return self.cut("\n".join(names)) or "(empty)"

    def read(self, file_name: str) -> str:
        return self.cut(self._text(file_name))

    def write(self, file_name: str, content: str) -> str:
        self._change(file_name, content)
        return f"{file_name} is written."

    def append(self, file_name: str, content: str) -> str:
        self._change(file_name, self._text(file_name) + content)
        return f"{file_name} now ends with it."

    def copy(self, source: str, destination: str) -> str:
        if not self._path(source).is_file():
            raise BadAction(f"There is no file {source}.")
        target = self._remember(destination)
        shutil.copyfile(self._path(source), target)
        return f"{source} is copied to {destination}."

    def undo(self, script_name: str) -> str:
        path = self._path(script_name)
        if not self.backups.get(path):
            raise BadAction(f"Nothing was changed in {script_name}.")
        before = self.backups[path].pop()
        if before is None:
            path.unlink(missing_ok=True)
            return f"{script_name} is removed again."
        path.write_bytes(before)
        return f"{script_name} is as it was:\n{self.cut(before.decode(errors='replace'))}"

    def execute(self, script_name: str) -> str:
        if not self._path(script_name).is_file():
            raise BadAction(f"There is no script {script_name}.")
        return self._run("python3", "-u", script_name)

    def inspect(self, script_name: str, start_line_number: str, end_line_number: str) -> str:
        try:
            start, end = int(start_line_number), int(end_line_number)
        except (TypeError, ValueError):
            raise BadAction("The line numbers are no numbers.") from None
        lines = self._text(script_name).splitlines()
        start, end = max(1, start), min(end, len(lines))
        if end - start >= LINES:
            raise BadAction(f"That is more than {LINES} lines; look at fewer.")
        head = f"{script_name} has {len(lines)} lines. Lines {start} to {end}:\n"
        return head + self.cut("\n".join(f"{number}: {lines[number - 1]}" for number in range(start, end + 1)))

    def understand(self, file_name: str, things_to_look_for: str) -> str:
        text = self._text(file_name)
        parts = [text[at : at + 4 * self.shown] for at in range(0, len(text), 4 * self.shown)][:10]
        said = [
            self.ask(
                f"This is part {number} of {len(parts)} of the file {file_name}:\n```\n{part}\n```\n"
                f"Report in detail what is asked for, with the lines that show it: {things_to_look_for}\n"
                "If it is not there, say so. Guess nothing."
            )
            for number, part in enumerate(parts, 1)
        ]
        if len(said) < 2:
            return self.cut("".join(said) or "The file is empty.")
        together = "\n".join(said)
        return self.cut(self.ask(f"Put these reports on parts of {file_name} together into one:\n{together}"))

    def edit(self, script_name: str, edit_instruction: str, save_name: str) -> str:
        path = self._path(script_name)
        before = self._text(script_name) if path.exists() else ""
        answer = self.ask(
            f"Here is the Python script {script_name}:\n```python\n{before}\n```\n"
            f"Edit it as follows:\n{edit_instruction}\n"
            "Answer with the whole edited script in one block that begins with ```python and ends with ```."
        )
        blocks = re.findall(r"```(?:python|py)?[ \t]*\n(.*?)```", answer, re.DOTALL)
        after = max(blocks, key=len) if blocks else answer
        self._change(save_name, after)
        difference = difflib.unified_diff(before.splitlines(), after.splitlines(), script_name, save_name, lineterm="")
        return self.cut(f"The edited script is {save_name}. What changed:\n" + "\n".join(difference))

    def validate(self) -> str:
        return self._run("sh", "validate_submission.sh", "submission/submission.csv")

    def cut(self, text: str) -> str:
        """The beginning and the end of a long text."""
        if len(text) <= self.shown:
            return text
        half = self.shown // 2
        return f"{text[:half]}\n... {len(text) - 2 * half} characters are left out ...\n{text[-half:]}"

    def _path(self, name: str) -> Path:
        if not isinstance(name, str) or not name or "\0" in name:
            raise BadAction(f"{name!r} is no path.")
        return self.home / name

    def _text(self, name: str) -> str:
        path = self._path(name)
        if not path.is_file():
            raise BadAction(f"There is no file {name}.")
        with path.open("rb") as file:
            return file.read(50 * self.shown).decode(errors="replace")

    def _change(self, name: str, content: str) -> None:
        if not isinstance(content, str):
            raise BadAction("The content is no text.")
        self._remember(name).write_text(content, encoding="utf-8", errors="replace")

    def _remember(self, name: str) -> Path:
        """The file's path, with what it holds now kept for undo."""
        path = self._path(name)
        if path.is_dir():
            raise BadAction(f"{name} is a folder.")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.backups.setdefault(path, []).append(path.read_bytes() if path.exists() else None)
        return path

    def _run(self, *argv: str) -> str:
        return f"It printed:\n{commands.run(argv, self.home, self.timeout, self.shown)}"
