"""The score of a submission that copies labels of training rows to some test rows, and has the sample's values else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from pandas import DataFrame

_TRUST = 0.9  # in a copied label, where the rest is the mean: a log loss punishes certainty


def score_of_copies(subject: Subject, twins: Mapping[str, str]) -> float | None:
    """Test key -> the training key whose labels it gets. None without labels, or if the competition rejects it."""
    train = subject.train
    if train is None:
        return None
    known = {key: other for key, other in twins.items() if other in train.index}
    if not known:
        return None
    labels = train.loc[list(known.values())].set_axis(list(known), axis=0)
    return best_score(subject, labels)


def best_score(subject: Subject, labels: DataFrame) -> float | None:
    """The better score of the labels as they are (index: test keys), and mixed with the mean of those in train."""
    scores = [subject.score(labels)]
    train, numbers = subject.train, as_numbers(labels)
    if train is not None and numbers is not None and ((numbers >= 0) & (numbers <= 1)).all(axis=None):
        means = as_numbers(train)
        if means is not None:
            scores.append(subject.score(_TRUST * numbers + (1 - _TRUST) * means.mean()))
    known = [score for score in scores if score is not None and not np.isnan(score)]
    return max(known, key=lambda score: (subject.gain(score), score), default=None)


def as_numbers(labels: DataFrame) -> DataFrame | None:
    """None if a label is no finite number."""
    import pandas as pd

    numbers = pd.DataFrame({column: numbers_of(labels[column]) for column in labels.columns}, labels.index)
    return numbers if np.isfinite(numbers.to_numpy()).all() else None
