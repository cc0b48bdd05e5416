"""The pages as a folder, to send or to host: `mlecore view --static DIR`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from mlecore.errors import UsageError
from mlecore.model.record import RunRecord
from mlecore.util import files

from . import code, compare, group_page, part_pages, run_page
from .conversation import Conversations
from .output import Outputs
from .places import Missing
from .site import Site, compare_name, file_name

_LOG = 1 << 20  # bytes of a log, its end
_CALLS = 100  # pages of a conversation


def write_site(runs: Path, folder: Path) -> int:
    """How many pages were written. Raises UsageError if the folder exists."""
    if folder.exists():
        raise UsageError(f"{folder} already exists", fix="Name a new folder: --static DIR")
    site = Site(runs, static=True)
    count = 0
    with files.output(folder) as new:
        for path, make in _pages(site):
            text, _ = site.or_missing(path.count("/"), make)
            target = new / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", errors="backslashreplace")
            count += 1
    return count


def _pages(site: Site) -> Iterator[tuple[str, Callable[[], str]]]:
    """Paths below the folder, and what makes each page."""
    for group in site.catalogue.groups():
        rows = group.look().with_reasons()
        yield f"g/{group.name}/index.html", partial(group_page.group_page, site, group.name, {})
        for row in rows:
            for name, make in _run_pages(site, group.name, row.record.name):
                yield f"g/{group.name}/{row.record.name}/{name}.html", make
        for pair in group.pairs():
            names = [f"{group.name}/{name}" for name in pair]
            yield compare_name(*names), partial(compare.compare_page, site, Conversations(), *names)
    yield "index.html", partial(group_page.groups_page, site, {})


def _run_pages(site: Site, group: str, run: str) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "index", partial(run_page.run_page, site, group, run)
    yield "log", partial(part_pages.log_page, site, Outputs(), group, run, {}, most=_LOG)
    yield "code", partial(part_pages.code_page, site, group, run)
    yield "record", partial(part_pages.record_page, site, group, run)
    try:
        record = run_page.full_record(site, group, run)
    except Missing:  # as the pages above say
        return
    for file in code.listed(record.folder, most=code.IN_FOLDER)[0]:
        yield file_name(file.path), partial(part_pages.file_page, site, group, run, file.path)
    conversations = Conversations()
    for page in range(1, _CALLS + 1):
        name = "calls" if page == 1 else f"calls-{page}"
        yield name, partial(part_pages.calls_page, site, conversations, group, run, page)
        if not _has_more(conversations, record, page):
            return


def _has_more(conversations: Conversations, record: RunRecord, page: int) -> bool:
    try:
        return not conversations.part(record, record.folder, page).last
    except Missing:
        return False
