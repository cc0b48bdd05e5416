"""What agents write is shown as text, and nothing outside of the runs folder is shown."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from groups_on_disk import EVIL, SECRET
from mle_ext_view.app import _version
from mle_ext_view.places import Missing
from mle_ext_view.site import Site
from starlette.testclient import TestClient

RUN = "g/hostile/alpha--optical-digits--0"
TAGS = {
    *"a body button circle code dd details div dl dt figcaption figure form g h1 h2 h3 head".split(),
    *"header html input label li link main meta nav ol option p path pre rect script section".split(),
    *"select span strong summary svg table tbody td text th thead title tr ul".split(),
}


class Reader(HTMLParser):
    """Tags with their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data


def links(text: str) -> list[str]:
    return [attributes["href"] or "" for tag, attributes in Reader(text).tags if tag == "a"]


@pytest.mark.parametrize("page", ["index", "log", "code", "calls", "record", "file", "missing"])
def test_markup_is_text(client: TestClient, page: str) -> None:
    address = {"file": f"{RUN}/file.html?path=code/train.py", "missing": f"{RUN}/file.html?path={quote(EVIL)}"}
    answer = client.get(address.get(page, f"{RUN}/{page}.html"))
    reader = Reader(answer.text)
    assert "alert(1)" in reader.text  # it is shown
    assert {tag for tag, _ in reader.tags} <= TAGS | {"title"}
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert all(attributes.get("src", "").endswith(".js") for tag, attributes in reader.tags if tag == "script")
    assert "img" not in {tag for tag, _ in reader.tags}


def test_every_page_that_is_linked_exists(client: TestClient) -> None:
    """From the first page on, all of the hostile group."""
    seen, waiting = set(), ["index.html"]
    reasons = re.compile(
        r"there is no output yet|does not exist|cannot be shown|is no text|no file of a run|no run |no transcripts"
    )
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = client.get(address)
        assert answer.status_code == 200 or (answer.status_code == 404 and reasons.search(answer.text)), address
        assert SECRET not in answer.text, address
        page = client.base_url.join(address)
        for link in links(answer.text):
            target = str(page.join(link.partition("#")[0] or str(page))).removeprefix(str(client.base_url))
            if "hostile" in target and "compare" not in target:
                waiting.append(target)
    assert len(seen) > 40


@pytest.mark.parametrize(
    "path",
    [
        "code/link.py",
        "code/folder/secret.txt",
        "../../../outside/secret.txt",
        "code/../../../../etc/passwd",
        "/etc/passwd",
        "code//etc/passwd",
        "code/./train.py",
        ".secrets.json",
        "run.json/..",
        "",
        "code",
        "code/\x00",
        "code/" + "a/" * 5000 + "x",
        "code/" + "a" * 300,
    ],
)
def test_no_path_leaves_the_run(client: TestClient, path: str) -> None:
    answer = client.get(f"{RUN}/file.html", params={"path": path})
    assert answer.status_code == 404
    assert SECRET not in answer.text and "root:" not in answer.text
    answer = client.get(f"{RUN}/changes.html", params={"a": path, "b": "code/train.py"})
    assert answer.status_code == 404


@pytest.mark.parametrize("group", ["linked-group", "%2e%2e", "..%2f..", "hostile%2f..", ".hidden", "%00"])
def test_no_name_leaves_the_runs_folder(client: TestClient, group: str) -> None:
    for address in (f"g/{group}/index.html", f"g/{group}/x/index.html", f"g/hostile/{group}/index.html"):
        answer = client.get(address)
        assert answer.status_code in (403, 404), address
        assert SECRET not in answer.text


def test_links_in_the_place_of_logs_and_folders_are_not_followed(client: TestClient) -> None:
    assert client.get("g/hostile/alpha--optical-digits--1/log.html").status_code == 404
    assert client.get("g/hostile/linked-run/index.html").status_code == 404
    run = "g/hostile/alpha--spaceship-titanic--0"
    assert "secret.txt" not in client.get(f"{run}/code.html").text
    assert SECRET not in client.get(f"{run}/index.html").text


def test_damaged_files_are_named_and_the_rest_is_shown(client: TestClient) -> None:
    page = client.get("g/hostile/index.html")
    assert "alpha--spaceship-titanic--1" in page.text and "run.json" in page.text
    assert "beta--optical-digits--0" in page.text
    assert "broken" in client.get("index.html").text
    assert client.get("g/broken/index.html").status_code == 200


def test_nothing_is_changed(runs: Path, client: TestClient) -> None:
    def tree() -> dict[str, tuple[int, int, int]]:
        found = {}
        for path in runs.rglob("*"):
            stat = path.lstat()
            found[str(path)] = stat.st_ino, stat.st_size, stat.st_mtime_ns
        return found

    before = tree()
    for group in ("finished", "working", "hostile"):
        for page in ("index", "log", "code", "calls", "record"):
            client.get(f"g/{group}/alpha--optical-digits--0/{page}.html")
        client.get(f"g/{group}/index.html")
    assert tree() == before


def test_an_event_stream_tells_nothing_about_other_folders(runs: Path) -> None:
    site = Site(runs)
    assert _version(site, "finished", "alpha--optical-digits--0")
    for group, run in (
        ("finished", ".."),
        ("finished", "../working/alpha--optical-digits--0"),
        ("..", ""),
        ("linked-group", ""),
    ):
        with pytest.raises(Missing):
            _version(site, group, run)
