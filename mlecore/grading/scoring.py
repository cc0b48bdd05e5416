"""One submission against a competition's hooks ``examine`` and ``grade``, in this process, without limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mlecore.data.sample import open_sample
from mlecore.errors import DataError, GradingError, PluginError
from mlecore.model.competition import Competition
from mlecore_toolkit.submissions.check import read_sample, unknown_labels, warnings
from mlecore_toolkit.submissions.guard import guard
from mlecore_toolkit.submissions.shape import explaining
from mlecore_toolkit.submissions.table import Table


def check(competition: Competition, submission: Path, public: Path) -> list[str]:
    """Warnings about a well-formed submission. Raises InvalidSubmission for one that is not, DataError, PluginError."""
    with open_sample(competition.facts, public) as sample_path:
        guard(submission, sample_path)
        table, sample = Table(submission), Table(sample_path)
        with explaining(submission):
            said = _examined(competition, table, sample, public)
        others = sorted(set(public.glob("*.csv")) - {public.parent / competition.facts.sample})
        return [*said, *unknown_labels(competition.format, table, sample, others)]


def _examined(competition: Competition, submission: Table, sample: Table, public: Path) -> list[str]:
    """Warnings of the ``[submission]`` table and the hook ``examine``. Raises InvalidSubmission."""
    plugin, format = competition.loaded, competition.format
    asked = read_sample(format, sample)
    if plugin.implements("asked"):
        asked = plugin.call("asked", sample=asked, public=public)
    asked, predictions = format.read(submission, asked)
    said = warnings(format, submission, sample)
    if plugin.implements("examine"):
        arguments = {"predictions": predictions, "asked": asked, "submission": submission, "folder": public}
        said += plugin.call("examine", **arguments, format=format) or ()
    return said


def score(competition: Competition, submission: Path, private: Path, public: Path | None = None) -> float:
    """The score of a submission, unrounded; NaN and infinities where the competition allows them.

    ``public``, by default the folder of that name beside ``private``, only limits the file's size, to ten times that of
    the sample submission (without one: of the answers). Raises InvalidSubmission with the reason, and GradingError for
    what is not the submission's fault.
    """
    if not private.is_dir() or not any(private.iterdir()):  # `mlecore data pull` copies the public part only
        raise GradingError(f"the answers of {competition.id} are missing: {private} is empty, or not a folder")
    with _sample_or_answers(competition, private, public or private.parent / "public") as usual:
        guard(submission, usual)
    try:
        with explaining(submission):
            found = competition.loaded.call(
                "grade",
                submission=Table(submission),
                private=private,
                edition=competition.edition,
                format=competition.format,
            )
    except PluginError as error:
        raise GradingError(error.message, fix=error.fix) from error
    try:
        return float(found)
    except (TypeError, ValueError):
        raise GradingError(f"the grade hook of {competition.id} returned {found!r}, which is not a number") from None


@contextmanager
def _sample_or_answers(competition: Competition, private: Path, public: Path) -> Iterator[Path | None]:
    """A file about as large as a submission: the sample, else the answers, else none."""
    answers = private / Path(competition.facts.answers).relative_to("private")
    with ExitStack() as stack:
        usual = answers if answers.is_file() else None
        with suppress(DataError):
            usual = stack.enter_context(open_sample(competition.facts, public))
        yield usual
