"""Collects the sources of the documentation site: `make docs` runs it, then MkDocs.

Pages are docs/, the packages' READMEs, the project's own files, and what is generated: one page per competition, and
those of ``GENERATED``, which docs/ and READMEs link to as if they lay in docs/.
Links are rewritten to the places that pages have on the site.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import design  # noqa: E402
import reference_pages  # noqa: E402
import schema_pages  # noqa: E402
from competition_pages import EXAMPLES, competition_page  # noqa: E402
from generate import competitions, distribution, members, project  # noqa: E402
from links import place, rewritten  # noqa: E402
from overviews import changes_page, competitions_page, known_issues_page  # noqa: E402

PROJECT_FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "LICENSE")
PYTHON = "# Python reference\n\nHow to use it, with examples: [Python API](../api.md).\n\n"
PUBLIC = ("mlecore.api", "mlecore.controller.api", "mlecore.detecting.group", "mle_ext_report", "mlecore.errors")
GENERATED: Mapping[str, Callable[[], str]] = {
    "competitions.md": competitions_page,
    "known-issues.md": known_issues_page,
    "v2-changes.md": changes_page,
    "schemas/statement.json": partial(schema_pages.json_schema, "statement"),
    **{f"schemas/{name}.md": partial(schema_pages.page, name) for name in schema_pages.PAGES},
    **{f"reference/{name}.md": page for name, page in reference_pages.PAGES.items()},
}


def main() -> None:
    """Write all sources to the folder given, which is created anew."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    for path, content in pages():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copy(content, target)
        else:
            target.write_text(content, encoding="utf-8")


def pages() -> Iterator[tuple[PurePosixPath, str | Path]]:
    """Every file of the sources: its path, and its text or the file to copy."""
    generated = {ROOT / "docs" / name: page for name, page in GENERATED.items()}
    written = [
        *(path for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()),
        *(member / "README.md" for member in packages()),
        *(ROOT / name for name in PROJECT_FILES),
    ]
    for source in [*written, *generated]:
        path = place(source)
        assert path is not None, source
        if source.suffix == ".md":
            text = generated[source]() if source in generated else source.read_text(encoding="utf-8")
            yield path, rewritten(text, source, generated)
        else:
            yield path, generated[source]() if source in generated else source
    for facts in competitions():
        yield PurePosixPath("competitions", f"{facts.id}.md"), competition_page(facts)
    yield PurePosixPath("packages/index.md"), packages_page()
    yield PurePosixPath("reference/python.md"), PYTHON + "\n\n".join(f"::: {name}" for name in PUBLIC) + "\n"
    for asset in sorted((ROOT / "scripts" / "site" / "assets").iterdir()):
        yield PurePosixPath("assets", asset.name), asset
    for name, text in design.assets():
        yield PurePosixPath("assets", name), text
    for picture in sorted(EXAMPLES.glob("*.webp")):
        yield PurePosixPath("assets", "examples", picture.name), picture


def packages() -> list[Path]:
    """The folders of all packages but competitions, which have pages of their own."""
    return [member for member in members() if member.parent.name != "competitions"]


def packages_page() -> str:
    """A table of these packages."""
    rows = [
        f"| {member.parent.name} | [{distribution(member)}]({member.parent.name}/{member.name}.md) "
        f"| {project(member)['description']} |"
        for member in packages()
    ]
    head = (
        "# Packages\n\n`pip install NAME` installs one. Competitions have [their own pages](../competitions/index.md)."
    )
    return "\n".join([head, "", "| kind | package | what it is |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    main()
