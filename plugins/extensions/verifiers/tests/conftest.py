"""Synthetic data of one competition, and the commands of agents that leave different things as their submission."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mlecore
from mlecore.data.prepared import Prepared
from mlecore_testing.synthetic_data import prepare_synthetic

ID = "spaceship-titanic"
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def serving() -> Callable[..., Any]:
    """``scripted_model.serving``."""
    spec = importlib.util.spec_from_file_location("scripted_model", HERE / "scripted_model.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = module.serving
    return found


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_synthetic(ID, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def prepared(data: Path) -> Prepared:
    return mlecore.open_data(mlecore.competition(ID), [data], synthetic=True)


@pytest.fixture(scope="session")
def commands(prepared: Prepared) -> list[str]:
    """Twenty, for /bin/sh; the submission goes to /home/submission, the public data are in /home/data."""
    columns = ["PassengerId", "Transported"]
    perfect = mlecore.competition(ID).perfect(prepared.private)[columns].to_csv(index=False)
    at = "/home/submission/submission.csv"
    sample = "/home/data/sample_submission.csv"
    write = f"cat >{at} <<'END'\n{perfect}END"
    return [
        write,
        f"{write}\nsed -i '2,10s/,.*/,True/' {at}",
        f"{write}\nsed -i '2,20s/,.*/,True/' {at}",
        f"{write}\nsed -i '2,40s/,.*/,True/' {at}",
        f"cp {sample} {at}",
        f"sed 's/True/False/' {sample} >{at}",
        f"sed 's/False/True/' {sample} >{at}",
        f"head -n 5 {sample} >{at}",
        f"(cat {sample}; tail -n 1 {sample}) >{at}",
        f"sed 's/,.*/,maybe/' {sample} >{at}",
        f"sed '1s/.*/a,b/' {sample} >{at}",
        f": >{at}",
        f"printf 'PassengerId,Transported\\n\\0\\n' >{at}",
        f"printf '\\377\\376' >{at}",
        f"truncate -s 3G {at}",
        f"ln -s {sample} {at}",
        f"cp {sample} /home/other.csv; ln -s /home/other.csv {at}",
        f"mkdir {at}",
        f"mkfifo {at}",
        "true",
    ]
