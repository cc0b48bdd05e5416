"""Agent `aide`: Weco's AIDE from PyPI, a tree search over solutions, with MLE-bench's settings as defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mle_lib_agents import PROMPT, launch_program, model, programs, temperature
from mle_lib_agents.requirements import packages
from mle_lib_agents.usage import reported

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Needs, Recipe, Task, Usage
from mlecore.model.options import Option

WORK = Path(__file__).parent / "work"
AIDE = "aideml==0.2.2"
# As old as that release: newer clients have dropped arguments that it passes.
CLIENTS = ("openai>=1.69,<2", "anthropic>=0.20,<1")
# What it imports itself, and what simple solutions import.
IMPORTED = (
    *("backoff", "black==24.3.0", "coolname>=2.2", "dataclasses_json>=0.6.4", "funcy==2.0", "genson>=1.2"),
    *("humanize==4.8.0", "igraph>=0.11.3", "jsonschema==4.19.2", "omegaconf>=2.3", "rich==13.7.0", "shutup>=0.2"),
    *("numpy==1.26.2", "pandas==2.1.4", "scikit-learn==1.5.0", "scipy==1.11.4"),
)
# What its prompt promises, and its package does not bring.
PROMISED = ("statsmodels", "xgboost", "torch-geometric")
NAMED = {
    "all": (
        *("numpy", "pandas", "scikit-learn", "statsmodels", "xgboost", "lightGBM", "torch", "torchvision"),
        *("torch-geometric", "bayesian-optimization", "timm"),
    ),
    "few": ("numpy", "pandas", "scikit-learn", "scipy"),
}


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="AIDE (PyPI): a tree search over solutions, with MLE-bench's settings",
        options=(
            Option(name="steps", type="integer", default="500", help="maximum number of solutions to try"),
            Option(name="step-timeout", type="integer", default="32400", help="time limit per solution, in seconds"),
            Option(name="feedback-model", help="model that reviews the output of solutions; default: the run's model"),
            temperature("0.5"),
            Option(name="feedback-temperature", type="number", default="0.5", help="temperature of the feedback model"),
            Option(name="num-drafts", type="integer", default="5", help="solutions before the first improvement"),
            Option(name="debug-prob", type="number", default="1", help="probability of debugging a failed solution"),
            Option(name="max-debug-depth", type="integer", default="20", help="attempts to debug one solution"),
            Option(name="k-fold-validation", type="integer", default="1", help="folds to ask for; 1: none mentioned"),
            Option(
                name="packages",
                default="all",
                choices=tuple(NAMED),
                help="for solutions: all packages that AIDE lists (about 6 GB with PyTorch), or only its own",
            ),
            Option(name="pip", help="additional packages: comma-separated, or a file", default=""),
            PROMPT,
        ),
        needs=Needs(network="llm", model=True),
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    more = packages(options["pip"], "aide")
    if options["packages"] == "few":
        return Recipe(python=">=3.10,<3.13", pip=(*CLIENTS, *IMPORTED, *more), pip_alone=(AIDE,))
    return Recipe(python=">=3.10,<3.13", pip=(AIDE, *CLIENTS, *PROMISED, *more))


@hookimpl
def launch(task: Task) -> Launch:
    options, main = task.options, model(task, "aide")
    feedback = options.get("feedback-model", main)
    numbers = ("steps", "step-timeout", "num-drafts", "max-debug-depth", "k-fold-validation")
    fractions = ("temperature", "feedback-temperature", "debug-prob")
    settings = {
        "model": main,
        "feedback_model": feedback,
        **{name.replace("-", "_"): float(options[name]) for name in fractions},
        **{name.replace("-", "_"): int(options[name]) for name in numbers},
        "packages": [*NAMED[options["packages"]], *packages(options["pip"], "aide")],
        "maximize": task.direction == "maximize",
        "seed": task.seed,
    }
    return launch_program(
        task, "main.py", {"AIDE_SETTINGS": json.dumps(settings)}, programs(WORK, "clock.py", "ending.py"), (feedback,)
    )


@hookimpl
def usage(logs: Path) -> Usage | None:
    return reported("aide.jsonl")(logs)
