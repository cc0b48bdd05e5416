"""Acme's agent and backend hold to mlecore's rules; pytest finds the competition by its competition.toml."""

from pathlib import Path

from mlecore_testing import check_agent, check_backend


def test_distance() -> None:
    check_agent("acme-distance")


def test_processes(tmp_path: Path) -> None:
    """What could not be tried is what it says that it does not do."""
    skipped = {skip.rule for skip in check_backend("acme-processes", {"folder": str(tmp_path)})}
    assert skipped == {
        "init-kept",
        "apart",
        "read-only",
        "network",
        "cpus",
        "memory",
        "child",
        "uncounted",
        "processes",
        "disk",
        "relay",
        "gateway",
    }
