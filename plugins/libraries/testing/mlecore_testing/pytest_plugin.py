"""pytest for packages of competitions: conformance without any test code, and data for tests of special cases.

pytest collects every ``competition.toml`` as a test: the conformance kit, once for each edition. The package's other
tests have three fixtures::

    pytestmark = pytest.mark.trial(size=0.5)    # optional: size (0.3), seed and edition of the synthetic data

    def test_a_constant_prediction_is_undefined(trial, answers):
        assert math.isnan(trial.grade(answers.assign(target=0.5)))

``trial`` is the package's competition with its data prepared (``mlecore_testing.trial.Trial``), once for a module;
``answers`` are the answers as a frame, and ``perfect`` is the best submission where that is another; each test gets a
fresh copy. ``pytest --kit short`` takes seconds where the whole kit takes up to half a minute: smaller data, no
mutated submissions, no model. ``pytest -m "not conformance"`` leaves the kit out. Data of the same competition, seed
and size are created once per test run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore import Competition
    from mlecore_testing.shared_data import SharedData
    from mlecore_testing.trial import Trial


_SHARED = pytest.StashKey[Path]()  # the folder of the test run's data, once a test or a worker needs it


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kit", choices=("full", "short"), default="full", help="form of the conformance kit for competitions"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "conformance: the conformance kit for a competition")
    config.addinivalue_line("markers", "trial(size, seed, edition): the data of the fixture `trial`")


def _shared(config: pytest.Config) -> Path:
    """The folder of the test run's data: of all workers of pytest-xdist the same."""
    if _SHARED not in config.stash:
        worker = getattr(config, "workerinput", None)
        config.stash[_SHARED] = Path(worker["mlecore_data"] if worker else tempfile.mkdtemp(prefix="mlecore-data-"))
    return config.stash[_SHARED]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where the data are."""
    node.workerinput["mlecore_data"] = str(_shared(node.config))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and _SHARED in config.stash:
        from mlecore_testing.trees import writable

        writable(config.stash[_SHARED])
        shutil.rmtree(config.stash[_SHARED])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    # below the session: setting up the folder, a package, would import it from here instead of where it is installed
    return Package.from_parent(parent.session, path=file_path) if file_path.name == "competition.toml" else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests that share a trial run in one process, where pytest-xdist groups them (``--dist loadgroup``)."""
    if "trial" in getattr(item, "fixturenames", ()) and item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


class Package(pytest.File):
    """A competition.toml: one test for each edition, in the short form for v1 only."""

    def collect(self) -> Iterator[pytest.Item]:
        from mlecore.errors import PluginError
        from mlecore.model.facts import read_facts

        try:
            facts = read_facts(self.path.parent)
        except PluginError as error:
            raise self.CollectError(str(error)) from None
        others = () if self.config.getoption("--kit") == "short" else facts.editions
        for edition in ("v1", *others):
            yield Conformance.from_parent(self, name=f"conformance[{edition}]", competition=facts.id, edition=edition)


class Conformance(pytest.Item):
    """The kit for one competition in one edition."""

    def __init__(self, *, competition: str, edition: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.competition, self.edition = competition, edition
        self.add_marker("conformance")

    def runtest(self) -> None:
        from mlecore_testing.competitions import check_competition
        from mlecore_testing.shared_data import SharedData

        skipped = check_competition(
            _installed(self.competition, self.edition, self.path.parent),
            short=self.config.getoption("--kit") == "short",
            shared=SharedData(_shared(self.config)),
        )
        self.add_report_section("call", "skipped rules", "\n".join(f"{one.rule}: {one.why}" for one in skipped))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from mlecore.errors import MlecoreError
        from mlecore_testing.rules import ConformanceError

        expected = isinstance(excinfo.value, MlecoreError | ConformanceError)
        return str(excinfo.value) if expected else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.competition} {self.name}"


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[None]:
    """Nothing of the user's: the key that seals groups, judges' answers, and Dolos, which is built once and kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLECORE_STATE", str(tmp_path_factory.mktemp("state")))
        patch.setenv("MLECORE_RULES", str(tmp_path_factory.mktemp("rules")))
        if "MLECORE_DOLOS" not in os.environ and hasattr(pytestconfig, "cache"):
            patch.setenv("MLECORE_DOLOS", str(pytestconfig.cache.mkdir("dolos")))
        yield


@pytest.fixture(scope="session")
def shared_data(pytestconfig: pytest.Config) -> SharedData:
    """The data that the tests of this run share."""
    from mlecore_testing.shared_data import SharedData

    return SharedData(_shared(pytestconfig))


@pytest.fixture(scope="module")
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shared_data: SharedData) -> Trial:
    """The competition of the test's package, prepared from synthetic data."""
    return _trial(request, tmp_path_factory, shared_data)


@pytest.fixture(scope="module")
def trial_v1(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shared_data: SharedData
) -> Trial:
    """The same data as ``trial``'s in edition v1, for tests of another edition that show what it mends."""
    return _trial(request, tmp_path_factory, shared_data, edition="v1")


def _trial(
    request: pytest.FixtureRequest, folders: pytest.TempPathFactory, shared_data: SharedData, **instead: str
) -> Trial:
    from mlecore_testing.trial import Trial

    marker = request.node.get_closest_marker("trial")
    given = {**(marker.kwargs if marker else {}), **instead}
    return Trial(_id_at(request.path), folders.mktemp("trial"), shared=shared_data, **given)


@pytest.fixture
def answers(trial: Trial) -> DataFrame:
    """The answers of ``trial`` as a fresh frame, typed as submissions are."""
    import pandas as pd

    return pd.read_csv(trial.prepared / trial.competition.facts.answers, float_precision="round_trip")


@pytest.fixture
def perfect(trial: Trial) -> DataFrame:
    """The best submission for ``trial``, as the competition's ``perfect`` or ``gold_submission`` says."""
    return trial.competition.perfect(trial.private)


def _installed(id: str, edition: str, folder: Path) -> Competition:
    """The installed competition. Raises UsageError if it is not the one in ``folder``."""
    from mlecore import competition
    from mlecore.errors import UsageError

    found = competition(id, edition)
    here, there = (path / "competition.toml" for path in (folder, found.facts.folder))
    if here.read_bytes() != there.read_bytes():
        raise UsageError(f"{there}, which is installed, differs from {here}", fix="Install the package again.")
    return found


def _id_at(test: Path) -> str:
    """The id of the competition of the test's package."""
    import tomllib

    for folder in test.parents:
        if (folder / "pyproject.toml").is_file():
            project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
            ids = list(project.get("entry-points", {}).get("mlecore.competitions", {}))
            if len(ids) == 1:
                return str(ids[0])
            raise pytest.UsageError(
                f"{folder / 'pyproject.toml'} names {len(ids)} competitions, and the fixture `trial` needs one; make"
                " your own of mlecore_testing.Trial"
            )
    raise pytest.UsageError(f"no pyproject.toml lies above {test}, so the fixture `trial` knows no competition")
