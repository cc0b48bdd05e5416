"""The kit, with Dolos: it is installed into the user's cache folder if it is not there."""

import pytest
from mle_detector_dolos.installing import installed

from mlecore.errors import MlecoreError
from mlecore_testing import check_detector


@pytest.mark.slow
@pytest.mark.network
def test_the_kit(tmp_path):
    try:
        installed()
    except MlecoreError as error:
        pytest.skip(str(error))
    (tmp_path / "a.py").write_text("print('nothing')\n")
    assert check_detector("dolos", {"references": str(tmp_path)}) == []
