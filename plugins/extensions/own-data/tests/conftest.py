"""Installs packages where they were written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mle_ext_own_data.writing import Written

import mlecore
from mlecore_testing.site_packages import declare, forget

sys.path.insert(0, str(Path(__file__).parent))  # for drafts

Install = Callable[[Written], mlecore.Competition]


@pytest.fixture
def install(site_packages: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Use a written package from its folder, as an editable install does."""

    def put(written: Written) -> mlecore.Competition:
        package = written.package
        declare(site_packages, package.distribution, f"[mlecore.competitions]\n{package.name} = {package.module}\n")
        monkeypatch.syspath_prepend(str(written.folder))
        forget()
        return mlecore.competition(package.name)

    return put
