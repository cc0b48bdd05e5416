"""Draws the README's picture, docs/report.svg, of a report: `scripts/picture.py GROUP... --runs DIR`.

The fonts that rich's template would load from the network are left out.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import textwrap
from itertools import takewhile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "report.svg"
WIDTH = 118  # of sentences; tables are as wide as they need
WITHOUT_FONTS = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def main() -> None:
    """Run the report with the arguments given, and draw its output."""
    words = ["report", *sys.argv[1:]]
    command = [sys.executable, "-c", "from mlecore.cli import main; main()", *words]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()
    text = "\n".join(line if "  " in line else textwrap.fill(line, WIDTH) for line in output.splitlines())
    width = max(map(len, text.splitlines()))
    console = Console(record=True, width=width, file=io.StringIO())
    shown = " ".join(takewhile(lambda word: not word.startswith("--"), words))
    console.print(Text.from_ansi(f"$ mlecore {shown}\n{text}"))
    svg = console.export_svg(title="mlecore", code_format=WITHOUT_FONTS, unique_id="report")
    PICTURE.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
