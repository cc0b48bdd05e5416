"""What is wrong with how a page looks is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore_testing.looks import Look

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.network]
GOOD = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>a</title>
<style>:root { --m: 15px; } body { font-size: 15px; background: #fff; color: #000; margin: 0; }
@media (prefers-color-scheme: dark) { @media screen { body { background: #000; color: #fff; } } }</style>
<header class="site"><span class="name"><svg width="9" height="9"></svg></span></header><main><h1>a</h1>%s</main>"""
GOOD = GOOD.replace("<h1>", '<h1 style="font-size: 15px">')


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<p style="width: 500px">a</p>', "pixels wider"),
        ('<p style="font-size: 14px">a</p>', "text size of p. 14px"),
        ('<p style="color: #888; background: #999">hard to read</p>', "axe: color-contrast"),
        ("<img>", "axe: image-alt"),
        ("<style>.site { display: none; }</style>", "no mark"),
        ("<style>body { background: #000 !important; color: #fff !important; }</style>", "printed dark"),
        ("<script>console.error('a')</script>", "mine: "),
    ],
)
def test_what_is_wrong_is_noticed(body: str, problem: str, look: Look, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(GOOD % body)
    with pytest.raises(AssertionError, match=problem):
        look("mine", page)


def test_a_good_page_passes(look: Look, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(GOOD % "<p>easy to read</p>")
    look("mine", page)
