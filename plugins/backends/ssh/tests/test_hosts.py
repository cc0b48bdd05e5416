"""Hosts of an option and of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_backend_ssh.hosts import HostSettings
from mle_backend_ssh.ssh_backend import Settings

from mlecore.errors import UsageError
from mlecore.model.options import declared, read_options, read_settings, resolve


def read(text: str, folder: Path) -> tuple[HostSettings, ...]:
    """As the command line does with --backend-config."""
    file = folder / "ssh.toml"
    file.write_text(text)
    options = resolve(declared(Settings), read_options(file), "backend ssh")
    return read_settings(Settings, {**options, "gpus": "7"}, "backend ssh").hosts


def test_a_file_says_more_of_each(tmp_path: Path) -> None:
    text = """
        [[host]]
        address = "gpu1"
        slots = 2
        gpus = ["0", "1"]
        state = "/scratch/mlecore"
        [[host]]
        address = "gpu2"
        python = "python3.12"
    """
    assert read(text, tmp_path) == (
        HostSettings(address="gpu1", slots=2, gpus=("0", "1"), state="/scratch/mlecore"),
        HostSettings(address="gpu2", python="python3.12", gpus=("7",)),
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("host = []", "names no host"),
        ("host = ''", "needs the option host"),
        ("[[host]]\nslots = 1", "address is missing"),
        ('[[host]]\naddress = "a"\nslot = 1', "did you mean slots"),
        ('[[host]]\naddress = "a"\nslots = 0', "slots must be at least 1"),
        ('[[host]]\naddress = "a"\nstate = "data"', "state must be an absolute path"),
        ('[[host]]\naddress = "-oProxyCommand=x"', "cannot be a host"),
        ('[[host]]\naddress = "a"\n[[host]]\naddress = "a"', "names a twice"),
        ("host = '[[['", "not JSON"),
    ],
)
def test_what_is_wrong_with_them_is_reported(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read(text, tmp_path)
