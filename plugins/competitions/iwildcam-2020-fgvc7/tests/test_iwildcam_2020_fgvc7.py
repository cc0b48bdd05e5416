"""iWildCam 2020: JSON with other keys."""

from __future__ import annotations

import json
from pathlib import Path

from mlecore_testing import Trial


def test_other_keys_are_refused(trial: Trial, tmp_path: Path) -> None:
    known = json.loads((trial.raw / "iwildcam2020_train_annotations.json").read_text())
    (tmp_path / "iwildcam2020_train_annotations.json").write_text(json.dumps({**known, "more": []}))
    trial.refuses_raw(tmp_path, "has the keys")
