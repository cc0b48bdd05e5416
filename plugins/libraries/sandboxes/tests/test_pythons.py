"""A recipe can ask for another Python than the one that runs mlecore."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore_sandboxes import pythons

FAKE = """#!/bin/sh
echo 'CPython 3.{minor}.1'; echo /opt/fake/bin/python3.{minor}; echo /opt/fake
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH and a pyenv of the test's own."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path / "bin"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_the_newest_that_fits_and_starts(programs: Path) -> None:
    for minor in (11, 13, 15):
        put(programs / f"python3.{minor}", FAKE.format(minor=minor))
    put(programs / "python3.14", "#!/bin/sh\necho 'no such version is installed' >&2; exit 127\n")
    found = pythons.find_python(">=3.12,<3.15", None)
    assert found == ("/opt/fake/bin/python3.13", "CPython 3.13.1", Path("/opt/fake"))


def test_none_is_an_error_that_says_what_to_do(programs: Path) -> None:
    with pytest.raises(BackendError, match=r"needs Python >=3.99, and there is none") as caught:
        pythons.find_python(">=3.99", None)
    assert "docker" in str(caught.value.fix)


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_job_runs_with_it(lab: Any) -> None:
    other = f"!={sys.version_info[0]}.{sys.version_info[1]}.*,>=3.10"
    try:
        pythons.find_python(other, None)
    except BackendError as error:
        pytest.skip(str(error))
    status, output = lab.run("python3 -c 'import sys; print(sys.version_info[:2])'", recipe=Recipe(python=other))
    assert status.exit_code == 0, output
    assert output.strip() != str(sys.version_info[:2])
