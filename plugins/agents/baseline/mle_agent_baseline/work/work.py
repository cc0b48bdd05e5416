"""The worker: finds out what is asked, learns it, and writes the predictions in the sample's form.

``work.py HOME SAMPLE OUT SECONDS``. Prints what it does; ends with 0 and a line ``model: ...``, or with 1 and a line
``no model: ...`` where it has no model for such data.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import inventory
import names
import numpy as np
import pages
import problem
import submit
import tables
import tokens
from problem import NoModel
from solve import solve


def main() -> int:
    home, sample_path, out, seconds = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    task = json.loads(os.environ["BASELINE_TASK"])
    place = inventory.Source(sample_path, None, sample_path.name, sample_path.stat().st_size)
    sample = submit.Sample(tables.as_text(place))
    print(f"sample: {len(sample.table)} rows of {', '.join(sample.columns[:8])}", flush=True)
    try:
        predictions, note = predict(home / "data", sample, task, time.monotonic() + seconds)
    except NoModel as error:
        print(f"no model: {error}")
        return 1
    submit.write(sample, predictions, out)
    print(f"model: {note}", flush=True)
    return 0


def predict(
    folder: Path, sample: submit.Sample, task: dict[str, Any], until: float
) -> tuple[dict[str, np.ndarray], str]:
    """Values for the sample's columns, and what made them. Raises NoModel, for the reason that fits best."""
    data = inventory.take(folder)
    print(f"data: {len(data.tables)} tables, {len(data.images)} images, {len(data.sounds)} sounds", flush=True)
    text = (folder / "description.md").read_text(encoding="utf-8", errors="replace")

    def by_table() -> tuple[dict[str, np.ndarray], str]:
        return solve(problem.understand(data, sample, task["seed"]), data, task, until)

    def by_names() -> tuple[dict[str, np.ndarray], str]:
        asked, found = names.understand(data, sample, text)
        return solve(asked, data, task, until, found)

    reasons = []
    for attempt in (
        by_table,
        by_names,
        lambda: tokens.rewrite(data, sample),
        lambda: pages.clean(data, sample, task["seed"]),
    ):
        try:
            return attempt()
        except NoModel as error:
            print(f"not so: {error}", flush=True)
            reasons.append(str(error))
    raise NoModel(reasons[0])


if __name__ == "__main__":
    sys.exit(main())
