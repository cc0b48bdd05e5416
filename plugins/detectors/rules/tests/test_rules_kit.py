"""The kit, with a judge that answers from a script."""

import json

import pytest

from mlecore_testing import check_detector
from mlecore_testing.models import Answer, Script, scripted_model

RULES = ("hand-written-predictions", "outside-help", "outside-material", "tampered-with-checks")


@pytest.mark.slow
def test_the_kit():
    no = {"answer": "no", "confidence": 1.0, "quote": "", "reason": ""}
    text = json.dumps({"answers": [{"rule": rule, **no} for rule in RULES]})
    with scripted_model(Script(answers=(Answer(text=text, times=0),))) as model:
        assert check_detector("rules", {"model": "scripted", "endpoint": model.url, "chunk-chars": "200000"}) == []
