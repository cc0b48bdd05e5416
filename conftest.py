"""For all tests, of the core and of the plugins beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Groups of tests are sealed with a key of their own, not with the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLECORE_STATE", str(tmp_path_factory.mktemp("state")))
        yield
