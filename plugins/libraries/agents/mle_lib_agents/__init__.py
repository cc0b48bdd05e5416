"""What agents with a language model share: their options, their prompt, and programs that run in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mlecore.errors import UsageError
from mlecore.model.agents import Launch, Task
from mlecore.model.options import Option

WORK = Path(__file__).parent / "work"

SESSIONS = ("sessions.py", "clock.py", "ending.py")
"""The programs of an agent whose session is continued while time is left."""

PROMPT = Option(name="prompt", help="text to add to the task's prompt")

PROVIDER = Option(
    name="provider",
    default="openai",
    choices=("openai", "anthropic"),
    help="API of the endpoint: Chat Completions, or Anthropic's Messages",
)

PIP = Option(
    name="pip", help="packages for its code: comma-separated, or a file", default="numpy,pandas<3,scikit-learn"
)


def temperature(default: str | None = None) -> Option:
    """The option of that name; without a default the model's own temperature applies."""
    return Option(name="temperature", type="number", default=default, help="temperature; default: the model's own")


def prompt(task: Task) -> str:
    """The whole task as one text: instructions (with hardware, time and rules), description, the user's own words."""
    parts = [task.instructions, f"THE TASK: {task.title}\n\n{task.description}", task.options.get("prompt", "")]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def model(task: Task, agent: str) -> str:
    """The model's name. Raises UsageError if the run has no model and endpoint."""
    if not task.model or not task.endpoint:
        raise UsageError(
            f"agent {agent} needs a model", fix="Name it and where it is: --model NAME --endpoint https://HOST/v1"
        )
    return task.model


def programs(own: Path, *shared: str) -> dict[str, Path]:
    """Files for ``Launch.files``: the agent's own programs and those named of this package, side by side in agent/."""
    return {f"agent/{path.name}": path for path in (*sorted(own.glob("*.py")), *(WORK / name for name in shared))}


def launch_program(
    task: Task, name: str, env: Mapping[str, str], files: Mapping[str, Path], models: tuple[str, ...] = ()
) -> Launch:
    """Starts one of the programs in agent/ with the whole task on standard input and its own model within reach."""
    argv = ("python3", f"agent/{name}")
    return Launch(argv=argv, env=env, stdin=prompt(task).encode(), files=files, network="llm", models=models)
