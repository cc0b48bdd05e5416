"""What counts as the user's mirrors of packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore_jobs.mirrors import mirrors, mirrors_elsewhere


def test_variables_and_pip_s_options_file(tmp_path: Path) -> None:
    file = tmp_path / ".config" / "pip" / "pip.conf"
    file.parent.mkdir(parents=True)
    file.write_text(
        "[global]\nindex-url = https://a.example/100%\n[install]\nextra-index-url =\n  https://b.example\n"
        "  https://c.example\ntrusted-host = a.example\nno-cache-dir = true\n"
    )
    expected = {
        "PIP_INDEX_URL": "https://a.example/100%",
        "PIP_EXTRA_INDEX_URL": "https://b.example https://c.example",
        "PIP_TRUSTED_HOST": "a.example",
    }
    home = {"HOME": str(tmp_path)}
    assert mirrors(home) == expected
    assert mirrors({**home, "PIP_INDEX_URL": "https://d.example"})["PIP_INDEX_URL"] == "https://d.example"
    assert mirrors({"HOME": "/nonexistent", "PIP_CONFIG_FILE": str(file)}) == expected
    assert mirrors({**home, "PIP_CONFIG_FILE": "/dev/null"}) == {}


@pytest.mark.parametrize("content", [b"index-url = x\n", b"[global\n", b"\xff\xfe[global]\n", b"[global]\na=1\na=2\n"])
def test_an_options_file_that_cannot_be_read_is_empty(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pip.conf"
    file.write_bytes(content)
    assert mirrors({"PIP_CONFIG_FILE": str(file)}) == {}


def test_another_machine_gets_no_names_of_files_but_what_pip_s_options_file_says(tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://a.example\ncert = /ca.pem\n")
    given = {"PIP_CONFIG_FILE": str(file), "UV_INDEX": "https://b.example", "npm_config_userconfig": "/home/me/.npmrc"}
    assert mirrors_elsewhere(given) == {"PIP_INDEX_URL": "https://a.example", "UV_INDEX": "https://b.example"}


def test_the_user_s_npmrc_counts_if_it_names_a_registry(tmp_path: Path) -> None:
    home, file = {"HOME": str(tmp_path)}, tmp_path / ".npmrc"
    file.write_text("fund=false\nomit-lockfile-registry-resolved=true\n")
    assert mirrors(home) == {}
    for line in ("registry = https://n.example", "@own:registry=https://n.example", "//n.example/:_authToken=${TOKEN}"):
        file.write_text(f"fund=false\n{line}\n")
        assert mirrors(home) == {"NPM_CONFIG_USERCONFIG": str(file)}
    assert mirrors({**home, "npm_config_userconfig": "/other"}) == {"npm_config_userconfig": "/other"}
