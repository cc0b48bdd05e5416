"""Takes the pictures of a report for the README and the site, docs/report.png and docs/report-dark.png, in Chromium.

The report's results are drawn by chance: nothing is run.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from mle_ext_report.benchmark import split_ids
from mle_ext_report.html import page
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise
from PIL import Image

from mlecore_testing.browser import Browser
from mlecore_testing.drawn_groups import write_group

DOCS = Path(__file__).parents[1] / "docs"
SKILLS = {"aide": 0.62, "openhands": 0.45, "baseline": 0.05}
WIDTH, HEIGHT = 1280, 570


def main() -> None:
    """Write both pictures."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        for agent, skill in SKILLS.items():
            write_group(runs, agent, agent=agent, skill=skill, competitions=split_ids("low"))
        report = runs / "report.html"
        report.write_text(page(summarise(read_sources(list(SKILLS), [], runs))), encoding="utf-8")
        browser = Browser()
        for name, dark in (("report.png", False), ("report-dark.png", True)):
            browser.open(report, width=WIDTH, height=HEIGHT, dark=dark)
            with Image.open(
                io.BytesIO(browser.screenshot(WIDTH, HEIGHT, 1.5))
            ) as picture:  # a palette is a third of the size
                picture.convert("RGB").quantize(128).save(DOCS / name, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
