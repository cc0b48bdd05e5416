"""Pages as their readers see them: wide and narrow, light and dark, and on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .browser import Browser

Look = Callable[..., None]

# Rows and lines are alike, and axe takes long: it looks at the first ones.
_SOME = "{exclude: ['tbody > tr:nth-child(n+5)', '.code > :nth-child(n+9)']}"
_HEIGHT = 6000  # pixels of a picture, at most
_ODD_SIZES = """
(() => {
  const probe = document.body.appendChild(document.createElement("span"));
  const scale = ["xs", "s", "m", "l", "xl", "xxl"].map((name) => {
    probe.style.fontSize = `var(--${name})`;
    return getComputedStyle(probe).fontSize;
  });
  probe.remove();
  const odd = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const size = getComputedStyle(element).fontSize;
    if (texts.currentNode.data.trim() && element.checkVisibility() && !element.closest("svg") && !scale.includes(size))
      odd.add(`${element.localName}.${element.className} ${size}`);
  }
  return [...odd];
})()
"""
_COLOURS = "runOnly: ['color-contrast']"


@pytest.fixture
def look(browser: Browser, axe: str, pytestconfig: pytest.Config) -> Look:
    """Looks at a page: `look(name, page)`. Tests with it need the markers `browser`, `slow` and `network`.

    Its pictures go to build/screenshots/, for people. ``bar``: a selector of the project's mark.
    """
    folder = pytestconfig.rootpath / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)

    def picture(name: str, width: int) -> None:
        height = min(_HEIGHT, int(browser.ask("document.documentElement.scrollHeight")))
        (folder / f"{name}.png").write_bytes(browser.screenshot(width, height))

    def check(name: str, page: Path | str, bar: str = ".site .name svg") -> None:
        wrong = []
        for width, dark, rules in ((1280, False, ""), (1280, True, _COLOURS), (400, False, ""), (400, True, _COLOURS)):
            browser.open(page, width=width, height=800, dark=dark)
            where = f"{name}-{width}-{'dark' if dark else 'light'}"
            picture(where, width)
            browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; }); 0")
            if (wide := browser.ask("document.documentElement.scrollWidth - innerWidth")) > 0:
                wrong.append(f"{where}: {wide} pixels wider than the window")
            if not browser.ask(f"document.querySelector('{bar}').checkVisibility()"):
                wrong.append(f"{where}: the bar has no mark")
            wrong += [f"{where}: text size of {odd}" for odd in browser.ask(_ODD_SIZES)]
            wrong += [f"{where}: axe: {flaw}" for flaw in browser.flaws(axe, _SOME, rules)]
        browser.open(page, width=794, dark=True, paper=True)
        picture(f"{name}-print", 794)
        if browser.ask("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)":
            wrong.append(f"{name}: it is printed dark")
        wrong += [f"{name}: {problem}" for problem in browser.problems]
        assert not wrong, "\n".join(["", *wrong])

    return check
