"""docs/publishing.md, word for word: every command in it is run, in its own environment and with its own index."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")


def test_every_command_of_the_page(follow: Callable[..., tuple[Path, str]], tmp_path: Path, uploads: Path) -> None:
    _, printed = follow(TEXT, at_least=12)
    uploaded = {path.name for path in uploads.iterdir()}
    assert uploaded == {"mle_comp_my_problem-0.1.0-py3-none-any.whl", "mle_comp_my_problem-0.1.0.tar.gz"}
    installed = tmp_path / "venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    assert (installed / "mle_comp_my_problem" / "competition.toml").is_file()  # from the wheel, not editable
    last = printed.rpartition("+ mlecore plugins show my-problem")[2]
    assert "state:        ok" in last


def test_the_waiver_that_it_shows_can_be_read() -> None:
    import tomllib

    from mlecore_testing.competitions import RULES

    (block,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    (waiver,) = tomllib.loads(block)["waive"]
    assert waiver["rule"] in [rule.name for rule in RULES]
