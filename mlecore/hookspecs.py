"""Every extension point of mlecore. A plugin author reads this file and can begin.

A plugin is a module that an entry point names, in the group of its kind::

    [project.entry-points."mlecore.competitions"]
    aerial-cactus-identification = "mle_comp_aerial_cactus_identification"

It implements hooks as plain functions marked with ``hookimpl``. Arguments are passed by name, and an implementation
declares only those that it needs. An argument may not have a default and may not be keyword-only: pluggy would not pass
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pluggy

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore.model.agents import Agent, FinishedSubmission, Launch, Recipe, Task, Usage
    from mlecore.model.backends import Backend, Dataset
    from mlecore.model.competition import Competition
    from mlecore.model.detectors import Detection, Detector
    from mlecore.model.facts import Facts
    from mlecore.model.findings import Findings
    from mlecore.model.imported import Imported
    from mlecore.model.leftover import Leftover
    from mlecore.model.record import Obfuscation, RunRecord
    from mlecore.model.report import Report
    from mlecore.model.shown import Shown
    from mlecore_toolkit.submissions.format import Format
    from mlecore_toolkit.submissions.table import Table

hookimpl = pluggy.HookimplMarker("mlecore")
hookspec = pluggy.HookspecMarker("mlecore")

F = TypeVar("F", bound=Callable[..., object])


def required(spec: F) -> F:
    """Marks a hook that every plugin of the kind must implement."""
    spec.required = True  # type: ignore[attr-defined]
    return spec


class CompetitionSpec:
    """A problem: how to prepare its data, how to examine and grade a submission.

    Its facts are in ``competition.toml`` next to the module. Every key is a field of ``mlecore.model.facts.Facts``,
    with its type, default and meaning; the page schemas/competition of the docs lists them.
    """

    @required
    @hookspec(firstresult=True)
    def prepare(self, raw: Path, public: Path, private: Path, edition: str) -> None:
        """Make what the agent gets and what grading needs from the unpacked download.

        ``raw`` is read-only; archives inside it may still be packed. ``public`` and ``private`` exist and are empty.
        The same raw data must give the same bytes.
        """

    @required
    @hookspec(firstresult=True)
    def grade(self, submission: Table, private: Path, edition: str, format: Format) -> float:
        """The score, unrounded; NaN and infinities if the competition's rules allow them.

        ``format`` is the ``[submission]`` table of competition.toml (of the edition, if that has its own). It checks
        columns, ids and cells and pairs the rows, so that most graders are two lines::

            truth, predictions = format.read(submission, private / "test.csv")
            return roc_auc(truth["has_cactus"], predictions["has_cactus"])

        Raises InvalidSubmission, with the reason, for what the agent did wrong. Anything else raised is our error.
        """

    @hookspec(firstresult=True)
    def examine(
        self, predictions: DataFrame, asked: DataFrame, submission: Table, folder: Path, format: Format
    ) -> Sequence[str] | None:
        """The rules that ``[submission]`` cannot express. Needed only if there are any.

        The check calls it once it has read the submission by the table; ``grade`` calls it as a function, so that both
        apply one rule::

            truth, predictions = format.read(submission, private / "test.csv")
            examine(predictions)

        ``asked`` and ``predictions`` are the paired rows that ``format.read`` returns; in the check ``asked`` is what
        the hook of that name made of the sample, in ``grade`` the answers. ``submission`` is for rules on what
        ``format.read`` converts or leaves out, and ``folder`` is ``public`` or ``private``, for files that both have.
        It may replace columns of ``predictions`` by the values of their cells.

        Raises InvalidSubmission; never refuses what ``grade`` accepts. Returns warnings about what is valid and surely
        not intended, which only the check shows.

        In an edition this hook and ``asked`` go with ``grade``: a module that has its own does not inherit v1's.
        """

    @hookspec(firstresult=True)
    def asked(self, sample: DataFrame, public: Path) -> DataFrame:
        """The sample with what public data tell of the answers, such as the sizes of pictures.

        It adds columns that the answers have and ``[submission]`` or ``examine`` needs. The check reads submissions
        with it, as ``grade`` does with the answers. Without this hook: the sample as it is.
        """

    @hookspec(firstresult=True)
    def fetch(self, raw: Path) -> None:
        """Put real data that is not Kaggle's into ``raw``, which is empty. Without this hook data come from Kaggle."""

    @hookspec(firstresult=True)
    def make_raw(self, raw: Path, seed: int, size: float) -> None:
        """Write synthetic data in the form of the download into ``raw``, which is empty.

        Same names, columns, formats and corner cases; the same bytes for the same seed and size; about a second at
        size 1; a model can beat the sample submission on it. Optional if ``fetch`` needs no network.

        It belongs in ``synthetic.py`` next to the package's ``__init__.py``, which need not mention it: mlecore looks
        for hooks in both. So ``__init__.py`` says how the competition works, and nothing else.
        """

    @hookspec(firstresult=True)
    def perfect(self, private: Path, edition: str) -> DataFrame:
        """The best possible submission, for the conformance kit. Without this hook: the answers, read as a table."""


class AgentSpec:
    """Something that works on a competition: the process to start, and what it needs."""

    @required
    @hookspec(firstresult=True)
    def agent(self) -> Agent:
        """What it is: summary, options, secrets, needs."""

    @hookspec(firstresult=True)
    def recipe(self, options: Mapping[str, str]) -> Recipe:
        """Software to install. Without this hook: nothing."""

    @required
    @hookspec(firstresult=True)
    def launch(self, task: Task) -> Launch | FinishedSubmission:
        """What to start for a task, or finished files instead. Pure: starts nothing, writes nothing."""

    @hookspec(firstresult=True)
    def usage(self, logs: Path) -> Usage | None:
        """Tokens and cost, read from the collected logs, which may be hostile."""


class BackendSpec:
    """What runs agents' processes."""

    @required
    @hookspec(firstresult=True)
    def backend(self, options: Mapping[str, str]) -> Backend:
        """The backend with these options. Contacts nothing.

        Called with no options first, to learn which ones its class declares, then with all that have a value.
        """


class DetectorSpec:
    """Checks the output of runs for broken rules."""

    @required
    @hookspec(firstresult=True)
    def detector(self) -> Detector:
        """What it is: summary, options, secrets, programs."""

    @required
    @hookspec(firstresult=True)
    def detect(
        self,
        run: RunRecord,
        group: Sequence[RunRecord],
        competition: Competition,
        public: Path | None,
        options: Mapping[str, str],
    ) -> Detection:
        """Judge one run, together with all runs of its group that have output.

        ``run.folder`` has its output, which may be hostile: follow no links, bound what is read. ``public``: the public
        data; None where they are not there. Changes nothing, and opens nothing else of the competition's data. Works in
        a process of its own, which keeps what the module holds from one run to the next; where bubblewrap works, it
        cannot see the answers or change a run. Raises for what it cannot do: then it has failed on this run, which is
        not taken for clean.
        """


class ExtensionSpec:
    """Reacts to events, imports runs of other harnesses, and obfuscates competitions.

    Each event comes at least once, in the controller's process; errors in ``run_...`` affect no run.
    """

    @hookspec
    def run_started(self, run: RunRecord) -> None:
        """The agent's process has been started; a retry is a new attempt and gives a new event."""

    @hookspec
    def run_finished(self, run: RunRecord) -> None:
        """The agent's output has been collected; ``run.ended`` says how the process ended."""

    @hookspec
    def run_graded(self, run: RunRecord, report: Report) -> None:
        """The run's only grading is done."""

    @hookspec
    def run_judged(self, run: RunRecord, findings: Findings) -> None:
        """A detector has judged the graded run; one that compares runs may judge it again at the end of the group."""

    @hookspec(firstresult=True)
    def import_runs(self, source: Path, runs: Path, agent: str | None, name: str | None) -> Imported | None:
        """Create a group in the folder ``runs`` from the results of another harness, with ``create_imported`` of
        mle-ext-sharing.

        None if ``source``, a file or a folder, contains no results of this harness: the next extension is asked.
        ``agent`` and ``name`` are the label and the group's name that the user wants; None: derived from ``source``.
        The source may be hostile. Raises UsageError, DataError.
        """

    @hookspec(firstresult=True)
    def show(self, facts: Facts, dataset: Dataset, obfuscation: Obfuscation, folder: Path) -> Shown | None:
        """What agents see of a competition under ``mlecore run --obfuscate``. None: the next extension is asked.

        ``dataset`` has the prepared data, which it must not change. It may keep what it makes in ``folder``, which
        belongs to the data directory: for the same data in the same folder, all runs must see the same. Returns a
        subclass of ``Shown``, whose ``restore`` undoes in a submission what was renamed. Raises UsageError for what
        cannot be obfuscated.
        """

    @hookspec
    def leftovers(self, data: Path) -> Sequence[Leftover]:
        """What the extension keeps in a data directory; `mlecore doctor --clean` removes what is not needed."""


SPECS: Mapping[str, type] = {
    "competition": CompetitionSpec,
    "agent": AgentSpec,
    "backend": BackendSpec,
    "detector": DetectorSpec,
    "extension": ExtensionSpec,
}
