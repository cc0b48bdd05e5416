"""The kit's rule order: an order of public rows or files that tells the labels is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.slow

Judge = Callable[..., list[str]]

ORDERS = {  # what prepare does besides, and what tells the labels then
    "files written label by label": (
        "(public / 'images').mkdir()\n"
        "for id in test.sort_values('inside')['id']:\n"
        "    (public / 'images' / f'{id}.png').touch()",
        "public/images: ",
    ),
    "members packed label by label": (
        "import zipfile\n"
        "with zipfile.ZipFile(public / 'images.zip', 'w') as archive:\n"
        "    for id in test.sort_values('inside')['id']:\n"
        "        archive.writestr(f'{id}.png', b'')",
        "public/images.zip: place by position in the archive",
    ),
    "files numbered label by label": (
        "test = test.sort_values('inside').assign(id=[f'{k:04}' for k in range(len(test))])\n"
        "(public / 'images').mkdir()\n"
        "for id in test['id'].sample(frac=1):\n"
        "    (public / 'images' / f'{id}.png').touch()",
        "public/images: place by name",
    ),
    "files numbered label by label, named in a table": (
        "names = [f'{k:04}.png' for k in range(len(test))]\n"
        "places = test['inside'].rank(method='first').astype(int) - 1\n"
        "named = test[['id']].assign(file=places.map(names.__getitem__))\n"
        "write_csv(named, public / 'pictures.csv')\n"
        "(public / 'images').mkdir()\n"
        "for name in names:\n"
        "    (public / 'images' / name).touch()",
        "public/images: ",
    ),
    "files with times label by label": (
        "import os, time\n"
        "(public / 'images').mkdir()\n"
        "for id, inside in test[['id', 'inside']].itertuples(index=False):\n"
        "    (public / 'images' / f'{id}.png').touch()\n"
        "    os.utime(public / 'images' / f'{id}.png', (inside, inside))",
        "public/images: time of the last change",
    ),
    "rows sorted by label": ("test = test.sort_values('inside')", "public/test.csv: row of the table"),
    "rows sorted by label, as of a sample": (
        "write_csv(test.sort_values('inside', ascending=False)[['id']].assign(y=0.5), public / 'more.csv')",
        "public/more.csv: row of the table",
    ),
}


@pytest.mark.parametrize("what", ORDERS)
def test_an_order_that_tells_the_labels_is_found(judge_preparing: Judge, what: str) -> None:
    code, expected = ORDERS[what]
    found = judge_preparing("order", code)
    assert any(place.startswith(expected) and " tells 'inside'" in place for place in found), found


def test_rows_of_near_labels_are_in_no_order(judge_preparing: Judge) -> None:
    """Such as those of one patient, or of one recording: neighbours are alike, and tell nothing of others."""
    alike = "test = test.iloc[(test['x'] * 4).round().argsort(kind='stable')]"
    assert judge_preparing("order", alike) == []


def test_files_linked_from_folders_of_labels_are_in_no_order(judge_preparing: Judge) -> None:
    """Their numbers are those of copies, which `mlecore prepare` makes unless it has unpacked the raw data itself."""
    linked = (
        "(public / 'images').mkdir()\n"
        "for id, inside in test.sort_values('inside')[['id', 'inside']].itertuples(index=False):\n"
        "    (private / str(inside)).mkdir(exist_ok=True)\n"
        "    (private / str(inside) / f'{id}.png').touch()\n"
        "    (public / 'images' / f'{id}.png').hardlink_to(private / str(inside) / f'{id}.png')"
    )
    assert judge_preparing("order", linked) == []
