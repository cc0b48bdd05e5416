"""Data of one competition, and evaluations in which a scripted model calls tools. inspect-ai may not be installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import mlecore
from mlecore.data.prepared import Prepared
from mlecore_testing.synthetic_data import prepare_synthetic

ID = "spaceship-titanic"
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with synthetic data."""
    return prepare_synthetic(ID, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def prepared(data: Path) -> Prepared:
    return mlecore.open_data(mlecore.competition(ID), [data], synthetic=True)


@pytest.fixture(scope="session")
def evaluate(data: Path) -> Callable[..., Any]:
    """Gives the log of an evaluation in which the model says these texts, or calls these tools, in each sample."""
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from inspect_ai import eval as evaluate_task
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    spec = importlib.util.spec_from_file_location("bubble", HERE / "bubble.py")
    assert spec and spec.loader
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

    def run(
        folder: Path, calls: Sequence[str | tuple[str, dict[str, Any]]], sandbox: str | None = "bubble", **options: Any
    ) -> Any:
        more = {name: options.pop(name) for name in ("epochs", "fail_on_error", "retry_on_error") if name in options}

        def answer(messages: Sequence[Any], *_: Any) -> ModelOutput:
            call = calls[min(sum(message.role == "assistant" for message in messages), len(calls) - 1)]
            if isinstance(call, str):
                output = ModelOutput.from_content("mockllm/model", call)
            else:
                output = ModelOutput.for_tool_call("mockllm/model", *call)
            output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
            return output

        values = {"synthetic": True, "data": str(data), "delivery": "copy", "outputs": str(folder / "out")}
        (log,) = evaluate_task(
            f"mlecore/{ID}",
            model=get_model("mockllm/model", custom_outputs=answer),
            task_args=values | options,
            sandbox=sandbox,
            log_dir=str(folder / "logs"),
            display="none",
            max_samples=1,
            **more,
        )
        return log

    return run
