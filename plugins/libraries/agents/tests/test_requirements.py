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
        with pytest.raises(UsageError, match=r"is neither a requirement|is not a requirement|does not exist"):
            packages(bad, "my-own")


def test_a_requirements_file_as_pip_reads_it(here: Path) -> None:
    (here / "more").mkdir()
    (here / "all.txt").write_text(
        "\ufeff# all\npandas>=2, \\\n  <3 # tables\n-r more/base.txt\n--requirement=last.txt\n"
    )
    (here / "more" / "base.txt").write_text("numpy\r\nlib @ https://example.org/lib.whl#sha256=00\r\n-r ../extra.txt")
    (here / "extra.txt").write_text('six; python_version < "4"')
    (here / "last.txt").write_text("")
    assert packages("all.txt", "my-own") == (
        "pandas>=2, <3",
        "numpy",
        "lib @ https://example.org/lib.whl#sha256=00",
        'six; python_version < "4"',
    )


def test_hashes_and_options_stay(here: Path) -> None:
    digest = "a1" * 32
    (here / "locked.txt").write_text(
        f"-i https://example.org/simple\n--extra-index-url=https://example.org/cu121\n--only-binary :all:\n"
        f"torch==2.9.0 \\\n    --hash=sha256:{digest} \\\n    --hash=sha256:{digest}\n"
    )
    assert packages("locked.txt", "my-own") == (
        "--index-url https://example.org/simple",
        "--extra-index-url https://example.org/cu121",
        "--only-binary :all:",
        f"torch==2.9.0 --hash=sha256:{digest} --hash=sha256:{digest}",
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--extra-index-url=https://u:secret@example.org", "PIP_EXTRA_INDEX_URL"),
        ("-i https://u:secret@example.org", "--index-url has a password"),
        ("-i ../packages", "takes a URL"),
        ("pandas==2 --hash=md5:00", "is not a requirement"),
        ("--no-binary", "takes names of packages"),
        ("--no-binary=a;b", "takes names of packages"),
        ("--trusted-host example.org", "--trusted-host cannot be used"),
        ("-c limits.txt", "-c cannot be used"),
        ("-r gone.txt", "gone.txt cannot be read"),
        ("-r requirements.txt", "name each other"),
        ("-r .", "cannot be read"),
    ],
)
def test_what_a_requirements_file_may_not_have(here: Path, line: str, words: str) -> None:
    (here / "requirements.txt").write_text(f"numpy\n{line}\n")
    with pytest.raises(UsageError) as error:
        packages("requirements.txt", "my-own")
    assert words in str(error.value) and "secret" not in str(error.value)
