"""What the option pip may say."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_lib_agents.requirements import packages

from mlecore.errors import UsageError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_packages_from_a_list_or_a_file(here: Path) -> None:
    assert packages("pandas>=2,<3, numpy,lib[a,b]==1", "my-own") == ("pandas>=2,<3", "numpy", "lib[a,b]==1")
    (here / "requirements.txt").write_text("# tools\npandas  # tables\n\nnumpy>=2\n")
    assert packages("requirements.txt", "my-own") == ("pandas", "numpy>=2")
    for bad in ("no such file.txt", "-r other.txt", "pandas=2"):
        with pytest.raises(UsageError, match="neither a requirement"):
            packages(bad, "my-own")
