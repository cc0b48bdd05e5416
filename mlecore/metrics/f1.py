"""F1 over single labels (macro) and over sets of labels (micro, or the mean over rows)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlecore.metrics.codes import coded
from mlecore.metrics.words import distinct_words, shared_words

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def macro_f1(truth: ArrayLike, predictions: ArrayLike) -> float:
    """The plain mean of 2TP/(2TP + FP + FN) over the labels that occur in truth or predictions.

    A guessed label that is never true is one more class of F1 = 0. As scikit-learn's ``f1_score(average="macro")``.
    """
    i, j = coded(np.asarray(truth), np.asarray(predictions))
    labels = max(i.max(initial=-1), j.max(initial=-1)) + 1
    hits = np.bincount(i[i == j], minlength=labels)
    size = np.bincount(i, minlength=labels) + np.bincount(j, minlength=labels)
    return float((2 * hits / size).mean())


def micro_f1(truth: Sequence[str], predictions: Sequence[str], classes: Collection[str] | None = None) -> float:
    """2TP/(2TP + FP + FN) over all (row, label) pairs; 0 where no pair is right.

    Each row is a text with labels between white space, of which repeats count once. **The classes are the labels of the
    truth** unless ``classes`` are given: any other guessed label is dropped without penalty, as scikit-learn's
    ``MultiLabelBinarizer`` does.
    """
    words = shared_words(truth, predictions, distinct_words(truth) if classes is None else classes)
    hits, size = int(words.both.sum()), int(words.truth.sum() + words.predictions.sum())
    return 2 * hits / size if size else 0.0


def mean_f1(truth: Sequence[str], predictions: Sequence[str]) -> float:
    """The mean over rows of 2TP/(2TP + FP + FN) of a row's labels; 0 for a row without a right one.

    Each row is a text with labels between white space, of which repeats count once. As scikit-learn's
    ``f1_score(average="samples")``.
    """
    words = shared_words(truth, predictions)
    scores = (2 * words.both / np.maximum(words.truth + words.predictions, 1)).tolist()
    return sum(scores) / len(scores) if scores else float("nan")
