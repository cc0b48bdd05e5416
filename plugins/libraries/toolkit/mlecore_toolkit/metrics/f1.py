"""F1 of single labels (macro) and of sets of labels (micro, or the mean over rows)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlecore_toolkit.submissions.cells import words

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def macro_f1(truth: ArrayLike, predictions: ArrayLike) -> float:
    """The plain mean of 2TP/(2TP + FP + FN) over the labels that occur in truth or predictions.

    A predicted label that is never true is one more class with F1 = 0. As scikit-learn's ``f1_score(average="macro")``.
    """
    labels, codes = np.unique(np.concatenate([truth, predictions]), return_inverse=True)
    i, j = np.split(codes, 2)
    hits, size = np.bincount(i[i == j], minlength=len(labels)), np.bincount(codes)
    return float((2 * hits / size).mean())


def micro_f1(truth: Sequence[str], predictions: Sequence[str], classes: Collection[str] | None = None) -> float:
    """2TP/(2TP + FP + FN) over all (row, label) pairs; 0 where no pair is right.

    Each row is a text of labels separated by white space; repeated labels count once. **The classes are the labels of
    the truth** unless ``classes`` are given: any other predicted label is dropped without penalty, as scikit-learn's
    ``MultiLabelBinarizer`` does.
    """
    known = {label for text in truth for label in words(text)} if classes is None else set(classes)
    hits = size = 0
    for text, guess in zip(truth, predictions, strict=True):
        asked, given = set(words(text)), known.intersection(words(guess))
        hits += len(asked & given)
        size += len(asked) + len(given)
    return 2 * hits / size if size else 0.0


def mean_f1(truth: Sequence[str], predictions: Sequence[str]) -> float:
    """The mean over rows of 2TP/(2TP + FP + FN) of a row's labels; 0 for a row without a right one.

    Each row is a text of labels separated by white space; repeated labels count once. As scikit-learn's
    ``f1_score(average="samples")``.
    """
    labels = ((set(words(text)), set(words(guess))) for text, guess in zip(truth, predictions, strict=True))
    scores = [2 * len(asked & given) / max(1, len(asked) + len(given)) for asked, given in labels]
    return sum(scores) / len(scores) if scores else float("nan")
