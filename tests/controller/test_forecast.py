"""What a group will take is said before it starts."""

from __future__ import annotations

from click.testing import CliRunner

from mlecore.cli import main


def test_run_says_it_once(lab) -> None:
    words = ["--agent", "worker", "--competition", "coins", "--backend", "folders", "-B", f"root={lab.backend_root}"]
    call = ["run", *words, "--no-detect", "--group", "g", "--seeds", "3", "--time-limit", "1h"]
    call += ["--data", str(lab.data), "--runs", str(lab.runs)]
    said = CliRunner().invoke(main, call).output
    assert "at most 1h: 3 runs of up to 1h, 3 at once (all of them)" in said and "free in" in said
    assert "at most" not in CliRunner().invoke(main, call).output, "a group that is resumed has begun"
