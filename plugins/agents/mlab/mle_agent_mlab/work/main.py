"""MLAgentBench's research agent, rewritten: a step is a plan, a thought and one action; a log remembers the rest.

The task comes on standard input, the settings in the variable MLAB_SETTINGS.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import clock
import ending
from actions import Action, BadAction, Desk
from commands import RESERVE
from llm import Models, Unanswered
from steps import BadStep, format_words, read_input, read_step, written

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
BAD_STEPS = 3  # answers in a row that are no step

PROMPT = """\
You are a research assistant who solves a machine-learning task by planning, running experiments and reading their
results. Do not guess results: observe them. The actions are:

{actions}

Paths are relative to the folder that holds data/ and submission/. Keep scripts in code/. Each step is one action, in
exactly this format:
{format}
After each step you are shown an Observation. Do not write it yourself.

THE TASK
{task}
"""
REFLECTION = "Reflection"
FINAL = "Final Answer"


class Researcher:
    """The steps so far, and the research log, which sums up those that the prompt has no room for."""

    def __init__(self, settings: dict[str, Any], task: str) -> None:
        (HOME / "logs").mkdir(exist_ok=True)
        self.settings = settings
        log = (HOME / "logs" / "mlab.jsonl").open("a", encoding="utf-8")
        self.models = Models(settings["protocol"], settings["temperature"], settings["retries"], log)
        desk = Desk(
            HOME, partial(self.models.ask, settings["edit_model"]), settings["shown"], settings["script_timeout"]
        )
        self.actions = desk.actions()
        self.actions[REFLECTION] = Action(
            "Looks at the research log with a question in mind.",
            {"things_to_reflect_on": "what to think about"},
            self.reflect,
        )
        final = Action(
            "Ends the work.", {"final_answer": "what was found out, in words"}, lambda final_answer: final_answer
        )
        self.actions[FINAL] = final
        self.head = PROMPT.format(actions=_described(self.actions), format=format_words(), task=task)
        self.log = HOME / "logs" / "research_log.log"
        self.steps: list[str] = []

    def run(self) -> str:
        """Work until there is a reason to stop; returns the outcome."""
        limit = self.settings["steps"]
        for number in range(1, limit + 1):
            if clock.left() < RESERVE:
                return "time_up"
            try:
                step = self.next_step(number, limit)
                if step is None:
                    return "gave_up: the model does not keep to the format"
                observation = self.act(step)
                self.keep(number, step, observation)
            except Unanswered as error:
                return f"no_answer: {error}"
            if step["Action"] == FINAL:
                return "submitted"
        return "steps_used"

    def next_step(self, number: int, limit: int) -> dict[str, str] | None:
        """What the model does next; None if it does not get the format right."""
        prompt = (
            f"{self.head}\n{self.memory()}\nThis is step {number} of {limit}. Time left: {clock.left_in_words()}.\n"
        )
        complaint = ""
        for _ in range(BAD_STEPS):
            answer = self.models.ask(self.settings["model"], prompt + complaint)
            try:
                step = read_step(answer)
                if step["Action"] not in self.actions:
                    raise BadStep(f"There is no action {step['Action']!r}. They are: {', '.join(self.actions)}.")
                read_input(step["Action Input"])
            except BadStep as error:
                complaint = f"\nYour last answer was:\n{answer}\n\nIt cannot be used. {error} Keep to the format.\n"
            else:
                return step
        return None

    def memory(self) -> str:
        """The end of the research log, then the last steps as they were."""
        room = self.settings["log_shown"]
        log = self.log.read_text(encoding="utf-8")[-room:] if self.log.exists() else ""
        recent = "\n".join(self.steps[-self.settings["remember"] :])
        return f"RESEARCH LOG\n{log or '(empty)'}\n\nTHE LAST STEPS\n{recent or '(none)'}"

    def act(self, step: dict[str, str]) -> str:
        """What the model observes of its action."""
        action, given = self.actions[step["Action"]], read_input(step["Action Input"])
        if wrong := set(given) ^ set(action.arguments):
            expected = ", ".join(action.arguments) or "none"
            return (
                f"The action {step['Action']} takes other arguments ({expected}); look at {', '.join(sorted(wrong))}."
            )
        try:
            return action.do(**given)
        except (BadAction, OSError) as error:
            return f"Error: {error}"

    def reflect(self, things_to_reflect_on: str) -> str:
        return self.models.ask(
            self.settings["fast_model"], f"{self.memory()}\n\nThink about this, and answer: {things_to_reflect_on}"
        )

    def keep(self, number: int, step: dict[str, str], observation: str) -> None:
        """Add a step to what is remembered, and its summary to the research log."""
        text = written(step, observation)
        self.steps.append(text)
        with (HOME / "logs" / "main_log").open("a", encoding="utf-8") as out:
            out.write(f"Step {number}:\n{text}\n")
        if step["Action"] == FINAL:
            summary = observation
        else:
            summary = self.models.ask(
                self.settings["fast_model"],
                f"Sum up this step of a research agent in a few lines for its log:\n{text}\n"
                "Answer in the form\n[Reasoning]: why\n[Action]: what was done, with names and values\n"
                "[Observation]: all that was found out, with every number that matters",
            )
        with self.log.open("a", encoding="utf-8") as out:
            out.write(f"Step {number}:\n{summary.strip()}\n\n")


def _described(actions: dict[str, Action]) -> str:
    described = []
    for name, action in actions.items():
        arguments = ", ".join(f'"{argument}": [{what}]' for argument, what in action.arguments.items())
        described.append(f"- {name}: {action.what} Action Input: {{{arguments}}}")
    return "\n".join(described)


if __name__ == "__main__":
    ending.report(Researcher(json.loads(os.environ["MLAB_SETTINGS"]), sys.stdin.read()).run())
