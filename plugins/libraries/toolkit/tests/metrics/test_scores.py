"""The shared metrics: against scikit-learn on random data, and by hand where versions differ."""

import math

import numpy as np
import pytest

import mlecore_toolkit as metrics
from mlecore.errors import GradingError, InvalidSubmission

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 500)
SCORES = np.round(RNG.random(500), 2)  # with ties


pytestmark = pytest.mark.xdist_group("scikit-learn")  # which takes seconds to import


@pytest.fixture(scope="module")
def sk():
    from sklearn import metrics

    return metrics


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def test_roc_auc(sk):
    assert metrics.roc_auc(TRUTH, SCORES) == close(sk.roc_auc_score(TRUTH, SCORES))
    assert metrics.roc_auc([0, 0, 1], [0.1, 0.3, 0.3]) == 0.75
    assert metrics.roc_auc([False, True], [-1e308, 1e308]) == 1
    assert metrics.roc_auc([0, 1], [5e-324, 0]) == 0
    assert math.isnan(metrics.roc_auc([1, 1], [0, 1]))
    assert math.isnan(metrics.roc_auc([], []))
    with pytest.raises(GradingError):
        metrics.roc_auc([0, 2], [0, 1])


def test_mean_roc_auc(sk):
    truth, scores = TRUTH.reshape(100, 5), SCORES.reshape(100, 5)
    assert metrics.mean_roc_auc(truth, scores) == close(sk.roc_auc_score(truth, scores))
    truth[:, 2] = 1
    assert math.isnan(metrics.mean_roc_auc(truth, scores))


def test_log_loss(sk):
    edge = np.where(SCORES < 0.1, 0, np.where(SCORES > 0.9, 1, SCORES))
    assert metrics.log_loss(TRUTH, edge) == close(sk.log_loss(TRUTH, edge))
    assert metrics.log_loss([1, 0], [0.0, 0.0]) == close(36.04365338911715 / 2)
    assert 0 < metrics.log_loss([1, 0], [1.0, 0.0]) < 3e-16
    with pytest.raises(InvalidSubmission, match="one class"):
        metrics.log_loss([1, 1], [0.5, 0.5])


def test_mean_log_loss():
    truth, p = RNG.integers(0, 2, (100, 5)), np.round(RNG.random((100, 5)))
    each = [metrics.log_loss(truth[:, k], p[:, k]) for k in range(5)]
    assert metrics.mean_log_loss(truth, p) == pytest.approx(np.mean(each), rel=1e-9)
    assert metrics.mean_log_loss([[1, 0], [1, 1]], [[1, 0], [1, 1]]) == pytest.approx(0, abs=1e-9)  # one class


@pytest.mark.parametrize("k", [None, 3])
def test_ndcg(sk, k):
    group = RNG.permutation(np.repeat(np.arange(40), 7))
    relevance, score = RNG.integers(0, 4, 280), RNG.integers(0, 5, 280)  # with ties
    relevance[group == 0] = 0
    expected = [sk.ndcg_score([2.0 ** relevance[group == g] - 1], [score[group == g]], k=k) for g in range(1, 40)]
    assert metrics.ndcg(group, relevance, score, k=k) == close(np.mean(expected))
    assert math.isnan(metrics.ndcg(["a"], [0], [1]))
    with pytest.raises(GradingError, match="below 0"):
        metrics.ndcg(["a"], [-1], [1])


@pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one")
def test_log_loss_of_classes_is_not_rescaled(sk):
    p = RNG.random((200, 4)) * 0.3
    y = RNG.integers(0, 4, 200)
    assert metrics.log_loss(np.eye(4)[y], p) == close(float(-np.log(p[np.arange(200), y]).mean()))
    p /= p.sum(axis=1, keepdims=True)
    assert metrics.log_loss(np.eye(4)[y], p) == close(sk.log_loss(np.eye(4)[y], p))


def test_accuracy():
    assert metrics.accuracy([True, False, True], [1, 0, 2]) == close(2 / 3)
    assert metrics.accuracy(["a", "b "], ["a", "b"]) == 0.5
    assert metrics.accuracy(["a\0"], ["a"]) == 0
    assert metrics.accuracy(np.array([2**53]), np.array([2**64 - 1], dtype=np.uint64)) == 0


def test_kappa(sk):
    y, p = RNG.integers(0, 5, 300), RNG.integers(0, 5, 300) * 7 - 3
    assert metrics.quadratic_weighted_kappa(y, p) == close(sk.cohen_kappa_score(y, p, weights="quadratic"))
    assert metrics.quadratic_weighted_kappa([0, 4, 0, 4], [0, 4, 4, 4]) == close(
        metrics.quadratic_weighted_kappa([0, 1, 0, 1], [0, 1, 1, 1])
    )
    assert metrics.quadratic_weighted_kappa([0, 1, 2], [1, 1, 1]) == 0
    assert math.isnan(metrics.quadratic_weighted_kappa([2, 2], [2, 2]))


def test_kappa_refuses_answers_without_a_label():
    for label in (math.nan, 1.5):
        with pytest.raises(GradingError, match="whole numbers"):
            metrics.quadratic_weighted_kappa([0.0, label], [0, 1])


def test_kappa_of_labels_beyond_63_bits(sk):
    y = np.array([0, 1, 2, 1])
    for odd in (2**63, 2**64 - 1):  # a double, and none: its row is left out, but its label has a place
        p = np.array([0, 1, 1, odd], dtype=np.uint64)
        assert metrics.quadratic_weighted_kappa(y, p) == close(sk.cohen_kappa_score(p, y, weights="quadratic"))
    p = np.array([0, 1, 2, 2**64 - 1], dtype=np.uint64)  # all labels of the truth are guessed: no row is left out
    assert metrics.quadratic_weighted_kappa(y, p) == close(sk.cohen_kappa_score(p, y, weights="quadratic"))


def test_mean_errors(sk):
    y, p = RNG.random((50, 3)), RNG.random((50, 3))
    assert metrics.rmse(y[:, 0], p[:, 0]) == close(sk.root_mean_squared_error(y[:, 0], p[:, 0]))
    assert metrics.rmse(y, p) == close(sk.root_mean_squared_error(y, p))
    assert metrics.rmsle(y, p) == close(sk.root_mean_squared_log_error(y, p))
    assert metrics.mae(y[:, 0], p[:, 0]) == close(sk.mean_absolute_error(y[:, 0], p[:, 0]))
    assert metrics.rmse([0.0], [1e200]) == math.inf


def test_log_error_begins_above_minus_one():
    assert metrics.rmsle([0.0, 1.0], [-0.5, 1.0]) == close(math.sqrt(math.log(0.5) ** 2 / 2))
    with pytest.raises(InvalidSubmission, match="greater than -1"):
        metrics.rmsle([0.0, 1.0], [-1.0, 1.0])


def test_macro_f1(sk):
    y, p = RNG.integers(0, 9, 300), RNG.integers(-2, 30, 300)
    assert metrics.macro_f1(y, p) == close(sk.f1_score(y, p, average="macro", zero_division=0))
    assert metrics.macro_f1([1, 1], [1, 2]) == close((2 / 3 + 0) / 2)


def test_micro_f1_drops_labels_that_are_never_true():
    assert metrics.micro_f1(["a b", "c"], ["a a z", ""]) == 0.5
    assert metrics.micro_f1(["a", "b"], ["b", "a"]) == 0
    assert metrics.micro_f1(["a"], [""]) == 0
    assert metrics.micro_f1(["a", "b"], ["a z", "b"], classes="abz") == close(4 / 5)


def test_mean_f1(sk):
    truth, given = RNG.integers(0, 2, (50, 4)), RNG.integers(0, 2, (50, 4))
    rows = [" ".join("abcd"[place] for place in np.flatnonzero(row)) for row in truth]
    guesses = ["  ".join(["abcd"[place] for place in np.flatnonzero(row)] * 2) for row in given]
    assert metrics.mean_f1(rows, guesses) == close(sk.f1_score(truth, given, average="samples", zero_division=0))
    assert metrics.mean_f1(["a", ""], ["a b", ""]) == close(1 / 3)
