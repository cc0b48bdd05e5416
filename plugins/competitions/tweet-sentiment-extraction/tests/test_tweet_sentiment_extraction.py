"""Tweet Sentiment Extraction: what counts as text, and two empty texts."""

from __future__ import annotations

import pandas as pd

from mlecore_testing import Trial


def test_numbers_count_as_python_prints_them(trial: Trial) -> None:
    truth = pd.DataFrame({"textID": ["a", "b"], "selected_text": ["1.0 x", "2"]})
    for cells, score in ((["1", "2"], 0.5), (["1", ""], 0.25), (["True", "False"], 0.0)):
        assert trial.grade(truth.assign(selected_text=cells), truth) == score


def test_two_empty_texts_are_undefined(trial: Trial) -> None:
    truth = "textID,selected_text\na,\nb,word\n"
    trial.refuses("textID,selected_text\na,NA\nb,word\n", "textID 'a': selected_text is empty", truth)
    assert trial.grade("textID,selected_text\na,any\nb,\n", truth) == 0
