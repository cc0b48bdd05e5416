"""Free text as weighted counts of words and of letters in a row (TF-IDF), and as a few dense columns of these."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

LETTERS_MOST = 60_000_000  # characters in all; more than that goes by words alone
DENSE_ROWS = 50_000
DENSE = 40


def counts(texts: list[tuple[list[str], list[str]]]) -> tuple[sparse.csr_matrix, sparse.csr_matrix] | None:
    """Counts for train and test of all columns of text; None if no word occurs twice."""
    known, asked = [], []
    for train, test in texts:
        rare = 1 if len(train) < 200 else 2
        makers = [TfidfVectorizer(ngram_range=(1, 2), min_df=rare, max_features=100_000, sublinear_tf=True)]
        if sum(map(len, train)) + sum(map(len, test)) < LETTERS_MOST:
            makers.append(
                TfidfVectorizer(
                    analyzer="char_wb", ngram_range=(2, 4), min_df=rare, max_features=100_000, sublinear_tf=True
                )
            )
        for maker in makers:
            try:
                known.append(maker.fit_transform(train).astype(np.float32))
            except ValueError:  # no words at all
                continue
            asked.append(maker.transform(test).astype(np.float32))
    if not known:
        return None
    return sparse.hstack(known, format="csr"), sparse.hstack(asked, format="csr")


def condensed(train: sparse.csr_matrix, test: sparse.csr_matrix, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The main directions of the counts, for models that want few columns; no columns for large data."""
    size = min(DENSE, train.shape[1] - 1, train.shape[0] - 1)
    if train.shape[0] > DENSE_ROWS or size < 2:
        return np.empty((train.shape[0], 0), np.float32), np.empty((test.shape[0], 0), np.float32)
    svd = TruncatedSVD(size, random_state=seed)
    return svd.fit_transform(train).astype(np.float32), svd.transform(test).astype(np.float32)
