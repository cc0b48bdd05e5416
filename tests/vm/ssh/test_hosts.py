"""Hosts of an option and of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore.errors import UsageError
from mlecore.vm.ssh.asyncssh_link import split_port
from mlecore.vm.ssh.hosts import HostSettings, read_hosts


def test_addresses_share_the_gpus_of_the_option() -> None:
    assert read_hosts("ann@gpu1, gpu2", ("0",)) == (
        HostSettings(address="ann@gpu1", gpus=("0",)),
        HostSettings(address="gpu2", gpus=("0",)),
    )


def test_a_file_says_more_of_each(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(
        '[[host]]\naddress = "gpu1"\nslots = 2\ngpus = ["0", "1"]\nstate = "/scratch/mlecore"\n'
        '[[host]]\naddress = "gpu2"\npython = "python3.12"\n'
    )
    assert read_hosts(str(file), ()) == (
        HostSettings(address="gpu1", slots=2, gpus=("0", "1"), state="/scratch/mlecore"),
        HostSettings(address="gpu2", python="python3.12"),
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "host is missing"),
        ("host = []", "names no host"),
        ("[[host]]\nslots = 1", "address is missing"),
        ('[[host]]\naddress = "a"\nslot = 1', "did you mean slots"),
        ('[[host]]\naddress = "a"\nslots = 0', "slots must be at least 1"),
        ('[[host]]\naddress = "a"\nstate = "data"', "state must be an absolute path"),
        ('[[host]]\naddress = "-oProxyCommand=x"', "cannot be a host"),
        ('[[host]]\naddress = "a"\n[[host]]\naddress = "a"', "names a twice"),
        ("[[host", "not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_hosts(str(file), ())


def test_a_file_that_is_not_there_is_a_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_hosts(str(tmp_path / "hosts.toml"), ())


@pytest.mark.parametrize(
    "host, expected",
    [
        ("gpu1", ("gpu1", None)),
        ("gpu1:2222", ("gpu1", 2222)),
        ("[::1]:22", ("::1", 22)),
        ("fe80::1", ("fe80::1", None)),
    ],
)
def test_ports(host: str, expected: tuple[str, int | None]) -> None:
    assert split_port(host) == expected
