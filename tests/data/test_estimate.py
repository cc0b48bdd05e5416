"""Large synthetic data are measured before they are created, and refused where the disk cannot hold them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mlecore.data.layout import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.errors import DataError


def test_a_size_that_the_disk_cannot_hold_is_refused_with_one_that_fits(  # type: ignore[no-untyped-def]
    tiny, dirs: DataDirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=10_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DataError, match=r"--size 1e\+06 take about [\d.]+ GB, and .* has 10.0 MB free") as raised:
        prepare(tiny, dirs, Synthetic(size=1e6))
    fits = re.match(r"--size (\d+) would fit", raised.value.fix or "")
    assert fits
    assert not list(Path(dirs.folder(tiny.id)).rglob("raw")), "nothing is left of the trial"
    prepare(tiny, dirs, Synthetic(size=float(fits[1])))
    with pytest.raises(DataError, match="take about"):
        prepare(tiny, dirs, Synthetic(size=float(fits[1]) * 1.3), force=True)
