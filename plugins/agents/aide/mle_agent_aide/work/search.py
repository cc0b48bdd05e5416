"""AIDE's agent, interpreter and journal, with the faults of its release fixed from outside."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aide.agent
import aide.backend
from aide.backend import backend_openai
from aide.interpreter import ExecutionResult, Interpreter
from aide.journal import Journal, Node
from aide.utils.config import _load_cfg, prep_agent_workspace, prep_cfg, save_run
from openai.types.chat import ChatCompletion
from openai.types.completion_usage import CompletionUsage

KEPT = 5  # submissions of the best solutions


def connect(log: Path) -> None:
    """Send all calls to the run's endpoint, also those that AIDE sends to OpenAI's own, and log their tokens."""
    backend_openai.OPENAI_BASE_URL = os.environ["OPENAI_BASE_URL"]
    backend_openai.backoff_create = _readable(backend_openai.backoff_create)
    ask = aide.backend.provider_to_query_func
    for provider, function in list(ask.items()):
        ask[provider] = _logged(function, log)
    aide.agent.query = _reviewed(aide.agent.query)


def _readable(create: Callable[..., Any]) -> Callable[..., Any]:
    """AIDE fails over a chat's answer without text, and over one whose usage is missing or no number."""

    def ask(*arguments: Any, **more: Any) -> Any:
        answer = create(*arguments, **more)
        if isinstance(answer, ChatCompletion):
            for choice in answer.choices:
                choice.message.content = choice.message.content or ""
            used = answer.usage
            if not used or not isinstance(used.prompt_tokens, int) or not isinstance(used.completion_tokens, int):
                answer.usage = CompletionUsage(prompt_tokens=0, completion_tokens=0, total_tokens=0)
        return answer

    return ask


def _logged(function: Callable[..., Any], log: Path) -> Callable[..., Any]:
    def ask(**arguments: Any) -> Any:
        answer = function(**arguments)
        _, _, tokens_in, tokens_out, info = answer
        used = {"model": info.get("model"), "input": tokens_in, "output": tokens_out}
        with log.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"usage": used}) + "\n")
        return answer

    return ask


def _reviewed(query: Callable[..., Any]) -> Callable[..., Any]:
    """AIDE takes a review without all its fields, or a metric of 1 instead of 1.0, for an error of its own."""

    def ask(*arguments: Any, func_spec: Any = None, **more: Any) -> Any:
        answer = query(*arguments, func_spec=func_spec, **more)
        return answer if func_spec is None else whole_review(answer)

    return ask


def whole_review(answer: Any) -> dict[str, Any]:
    """A review with the fields and types that AIDE reads; a solution that nobody can judge counts as failed."""
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except ValueError:
            answer = {"summary": answer}
    given = answer if isinstance(answer, dict) else {}
    metric = given.get("metric")
    number = float(metric) if isinstance(metric, (int, float)) and not isinstance(metric, bool) else None
    return {
        "is_bug": bool(given.get("is_bug", number is None)),
        "summary": str(given.get("summary", "")),
        "metric": number,
        "lower_is_better": bool(given.get("lower_is_better", False)),
    }


def configuration(settings: dict[str, Any], home: Path) -> Any:
    """AIDE's own, for a run in this folder."""
    cfg = _load_cfg(use_cli_args=False)
    cfg.data_dir = str(home / "data")
    cfg.goal = "in the task description"
    cfg.log_dir = str(home / "logs" / "aide")
    cfg.workspace_dir = tempfile.mkdtemp(prefix="aide-")  # home itself may be read-only
    cfg.exp_name = "run"
    cfg.copy_data = False  # links: data may be large, and are read-only
    cfg.generate_report = False
    cfg.exec.timeout = settings["step_timeout"]
    agent = cfg.agent
    agent.steps, agent.k_fold_validation = settings["steps"], settings["k_fold_validation"]
    agent.code.model, agent.code.temp = settings["model"], settings["temperature"]
    agent.feedback.model, agent.feedback.temp = settings["feedback_model"], settings["feedback_temperature"]
    for name in ("num_drafts", "debug_prob", "max_debug_depth"):
        agent.search[name] = settings[name]
    return prep_cfg(cfg)


class NoCode(Exception):
    """The model's answers have no code."""


class Search(aide.agent.Agent):  # type: ignore[misc]
    """AIDE's agent with its journal and interpreter, one attempt at a time."""

    def __init__(self, cfg: Any, settings: dict[str, Any]) -> None:
        super().__init__(task_desc="", cfg=cfg, journal=Journal())
        self._packages: list[str] = settings["packages"]
        self._maximize: bool = settings["maximize"]
        prep_agent_workspace(cfg)
        self._workspace = Path(cfg.workspace_dir)
        self._kept = self._workspace.parent / "kept"
        self._kept.mkdir(parents=True, exist_ok=True)
        self._interpreter = Interpreter(self._workspace, timeout=cfg.exec.timeout)

    @property
    def _prompt_environment(self) -> dict[str, str]:
        names = list(self._packages)
        random.shuffle(names)
        listed = ", ".join(f"`{name}`" for name in names)
        return {"Installed Packages": f"Your solution can use these packages and what comes with them: {listed}."}

    @property
    def _written(self) -> Path:
        """Where solutions leave their submission."""
        return self._workspace / "working" / "submission.csv"

    def try_one(self, seconds: float) -> None:
        """Draft, debug or improve a solution, run it for so long at most, and have it reviewed."""
        self._allow(seconds)
        self.step(exec_callback=self._run)
        node = self.journal.nodes[-1]
        if not node.is_buggy and self._written.is_file():
            self._written.replace(self._kept / f"{node.id}.csv")
            self._forget()

    def plan_and_code_query(self, prompt: Any, retries: int = 3) -> tuple[str, str]:
        """AIDE would run an answer without code as if it were code."""
        plan, code = super().plan_and_code_query(prompt, retries)
        if not plan:
            raise NoCode(f"none of {retries} answers has a plan and a block of code")
        return plan, code

    def parse_exec_result(self, node: Node, exec_result: ExecutionResult) -> None:
        """The direction is the competition's, whatever a review says: solutions must compare."""
        super().parse_exec_result(node, exec_result)
        if node.metric.value is not None:
            node.metric.maximize = self._maximize

    def ranked(self) -> list[Node]:
        """The solutions that work, by the metrics of the journal, the best first."""
        good: list[Node] = sorted(self.journal.good_nodes, key=lambda node: node.metric, reverse=True)
        return good

    def submission(self, node: Node) -> Path | None:
        """What a solution wrote, if it wrote a submission."""
        path = self._kept / f"{node.id}.csv"
        return path if path.is_file() else None

    def run_again(self, node: Node, seconds: float) -> Path | None:
        """Run a solution once more for the submission that it has not left."""
        self._allow(seconds)
        self._run(node.code)
        return self._written if self._written.is_file() else None

    def save(self) -> None:
        """Journal, code and tree, to the log folder."""
        save_run(self.cfg, self.journal)

    def close(self) -> None:
        self._interpreter.cleanup_session()

    def _allow(self, seconds: float) -> None:
        self.cfg.exec.timeout = self._interpreter.timeout = max(1, int(seconds))

    def _run(self, code: str, reset_session: bool = True) -> ExecutionResult:
        """Run a solution. One that ends its process, as the kernel may for its memory, has failed like any other."""
        self._written.unlink(missing_ok=True)  # whatever lies there afterwards is this solution's
        try:
            return self._interpreter.run(code, reset_session)
        except RuntimeError as error:
            self._interpreter.cleanup_session()
            return ExecutionResult([f"{error}: perhaps for its memory\n"], 0.0, "RuntimeError", {}, [])

    def _forget(self) -> None:
        """Remove the submissions of all solutions but the best."""
        names = {f"{node.id}.csv" for node in self.ranked()[:KEPT]}
        for path in self._kept.iterdir():
            if path.name not in names:
                path.unlink()
