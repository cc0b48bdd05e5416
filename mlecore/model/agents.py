"""What an agent declares, receives, starts and reports: plain values without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from attrs import field, frozen

from mlecore.model.options import Option, Variable

Network = Literal["none", "llm", "open"]
"""What a process can reach: nothing, a relay to the model's endpoint (and allowed hosts), everything."""

HOME = PurePosixPath("/home")
"""Where the sandbox tree is if there is a mount namespace."""


@frozen(kw_only=True)
class Needs:
    """What an agent needs; a mismatch with the backend is an error before anything starts."""

    gpus: int = 0
    network: Network = "none"
    writable_root: bool = False  # it installs things outside its home
    model: bool = False  # --model must be given


@frozen(kw_only=True)
class McpServer:
    """A server of the Model Context Protocol that somebody runs for agents, over HTTP."""

    url: str  # of its endpoint, such as https://mcp.example.org/mcp
    headers: Mapping[str, Variable] = field(factory=dict)  # of each request -> the variable that has its value


@frozen(kw_only=True)
class Agent:
    """An agent's declaration, for listings and for checks before a run."""

    summary: str
    options: tuple[Option, ...] = ()
    secrets: tuple[str, ...] = ()  # names of environment variables that it may request
    needs: Needs = Needs()
    takes_mcp: bool = False  # it uses the servers in Task.mcp
    uses_model: bool = True  # False: --model and --endpoint do not concern it


@frozen(kw_only=True)
class Recipe:
    """Software to install before an agent can run. Built once by a backend, cached by ``digest()``.

    Docker and Kubernetes make an image of it; a bare machine makes an environment of ``pip`` and ``npm`` packages and
    ``files``, and looks for ``programs`` (those that apt would install elsewhere), but installs none.
    """

    image: str | None = None  # a finished image, used unchanged; then everything else must be empty
    base: str | None = None  # base image; None: the backend's default
    python: str | None = (
        None  # versions that fit, such as ">=3.12": a bare machine looks for one, elsewhere base has it
    )
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()  # requirements, indexes without a password, --only-binary or --no-binary
    pip_alone: tuple[str, ...] = ()  # installed after those, without what they depend on
    npm: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(factory=dict)  # absolute path in the image -> content
    programs: tuple[str, ...] = ()  # that must be on PATH

    def digest(self) -> str:
        """SHA-256 (hex) of everything in it."""
        import hashlib
        import json

        files = {path: hashlib.sha256(content).hexdigest() for path, content in sorted(self.files.items())}
        parts = [self.image, self.base, self.python, self.apt, self.pip, self.pip_alone, self.npm, files, self.programs]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@frozen(kw_only=True)
class Task:
    """Everything that an agent may know about its run."""

    # its id; for the environment of images that expect it, not for special cases. Obfuscated: a name that says nothing
    competition: str
    title: str
    modality: str
    metric: str
    direction: Literal["maximize", "minimize"]
    instructions: str  # the whole text of instructions.txt
    rules: str  # the part of it that says what is forbidden
    description: str  # the text of description.md
    time_limit: float  # seconds
    seed: int
    hardware: str  # in words
    options: Mapping[str, str]
    model: str | None = None
    endpoint: str | None = None  # base URL of the model
    mcp: Mapping[str, McpServer] = field(factory=dict)  # by name; only for an agent that takes them
    home: PurePosixPath = HOME

    @property
    def data(self) -> PurePosixPath:
        return self.home / "data"

    @property
    def submission(self) -> PurePosixPath:
        """The file that counts as the agent's result."""
        return self.home / "submission" / "submission.csv"


@frozen(kw_only=True)
class Launch:
    """What to start for an agent."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict)
    stdin: bytes = b""
    terminal: bool = False
    # path relative to home -> content: the agent's own code, part of its identity in the record. What depends on the
    # task goes to env or stdin: runs with different files are not averaged.
    files: Mapping[str, bytes | Path] = field(factory=dict)
    secrets: tuple[str, ...] = ()  # of those that it declared
    network: Network = "none"
    models: tuple[str, ...] = ()  # that it calls besides the run's; the gateway lets them through
    candidates: tuple[str, ...] = ("submission/submission.csv",)  # globs (mlecore.util.globs), best first
    grace: float = 10.0  # seconds between SIGTERM and SIGKILL when time is up
    notes: tuple[str, ...] = ()  # for the user, printed once before the first run starts


@frozen(kw_only=True)
class FinishedSubmission:
    """A finished submission instead of a process: for closed systems and for grading what exists."""

    submission: Path | None  # None: there is none for this task
    files: Mapping[str, Path] = field(factory=dict)  # more to keep: path in the run's folder (logs/..., code/...)


@frozen(kw_only=True)
class Usage:
    """Tokens and cost of an agent's models, as reported by its own logs or counted by its gateway."""

    models: tuple[str, ...] = ()  # their names
    input_tokens: int | None = None  # of all requests
    output_tokens: int | None = None  # of all answers
    estimated_tokens: int | None = None  # of calls whose tokens are unknown: in neither of these
    cost_usd: float | None = None  # of both
    measured: bool = False  # by the gateway, outside of the sandbox


OUTCOMES = {
    "submitted": "it submitted its work",
    "time_up": "its time was up",
    "steps_used": "its steps were used up",
    "no_answer": "the model did not answer",
    "gave_up": "it gave up",
    "fallback": "it fell back to a simple submission",
}
"""How an agent may say it ended, and what that means. It writes a line to ``logs/outcome`` before it exits with 0: one
of these words, alone or with a colon and a detail, such as ``no_answer: status 403``."""


@frozen(kw_only=True)
class Outcome:
    """How an agent says it ended. It may be forged, so it decides nothing."""

    kind: str  # of OUTCOMES, or "other"
    detail: str = ""  # in the agent's words; of "other", its whole line

    @property
    def meaning(self) -> str:
        """What its kind means, for counting."""
        return OUTCOMES.get(self.kind, "something else")

    def __str__(self) -> str:
        if self.kind not in OUTCOMES and self.detail:
            return self.detail
        return f"{self.meaning}{f' ({self.detail})' if self.detail else ''}"
