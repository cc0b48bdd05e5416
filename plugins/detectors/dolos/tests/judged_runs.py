"""Runs with code, and a popular notebook of which it may be a copy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mle_detector_dolos import detector
from mle_detector_dolos.judging import judge

from mlecore.model.detectors import Detection
from mlecore.model.options import resolve
from mlecore.model.record import RunRecord
from mlecore_testing import records

NOTEBOOK = Path(__file__).with_name("notebook.py").read_text()


def renamed(text: str = NOTEBOOK) -> str:
    """With other names, comments and constants."""
    for old, new in {"df": "frame_", "train": "known", "scores": "accs", "models": "zoo", "name": "label"}.items():
        text = re.sub(rf"\b{old}\b", new, text)
    return "# my own work\n" + text.replace("SEED = 7", "SEED = 2024  # luck").replace("0.5", "0.47")


def cells(text: str) -> str:
    """As a notebook."""
    return json.dumps({"cells": [{"cell_type": "code", "source": part} for part in text.split("\n\n\n")]})


def a_run(folder: Path, files: Mapping[str, str | bytes], name: str = "a") -> RunRecord:
    code = folder / "g" / name / "code"
    code.mkdir(parents=True)
    for file, text in files.items():
        (code / file).write_bytes(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
    return records.a_run(code.parent, competition="ships")


def judged(run: RunRecord, *group: RunRecord, public: Path | None = None, **given: str) -> Detection:
    competition: Any = SimpleNamespace(id="ships", facts=SimpleNamespace(kaggle=None))
    return judge(run, [run, *group], competition, public, resolve(detector().options, given, "dolos"))
