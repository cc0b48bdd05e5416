"""Graders written the way the published ones are, with pandas and scikit-learn and no care: an oracle for ours.

Each is a ``[submission]`` table, a formula of ``mlecore.metrics``, and the oracle, whose crash means invalid.
"""

import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
from attrs import frozen
from pandas import DataFrame

from mlecore import metrics
from mlecore.submissions.format import Format
from mlecore.submissions.table import Table


def metric(name: str) -> Any:
    """One of scikit-learn's, which takes seconds to import."""
    from sklearn import metrics

    return getattr(metrics, name)


@frozen(kw_only=True)
class Case:
    table: dict
    answers: DataFrame
    sample: str
    score: Callable[[DataFrame, DataFrame], float]  # of truth and predictions
    oracle: Callable[[DataFrame, DataFrame], float]
    odd: tuple[str, ...] = ()  # more cells to try in the place of predictions

    def grade(self, submission: Table, answers: DataFrame) -> float:
        return self.score(*Format.parse(self.table).read(submission, answers))


def ensure(condition: object) -> None:
    if not condition:
        raise ValueError


def sorted_pair(predictions: DataFrame, answers: DataFrame, on: str) -> tuple[DataFrame, DataFrame]:
    ensure(len(predictions) == len(answers))
    predictions, answers = (
        predictions.sort_values(on).reset_index(drop=True),
        answers.sort_values(on).reset_index(drop=True),
    )
    ensure((predictions[on].values == answers[on].values).all())
    return answers, predictions


IDS = [f"row_{k:02d}" for k in range(8)]
NUMBERED = list(range(10, 18))


def probability() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.roc_auc(truth["p"], predictions["p"])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        answers, predictions = sorted_pair(predictions, answers, "id")
        values = pd.to_numeric(predictions["p"])
        ensure(values.min() >= 0 and values.max() <= 1)
        return metric("roc_auc_score")(answers["p"], predictions["p"])

    return Case(
        table={"id": "id", "columns": {"p": {"type": "number", "low": 0, "high": 1}}},
        answers=DataFrame({"id": IDS, "p": [0, 1, 1, 0, 1, 0, 0, 1]}),
        sample="id,p\n" + "".join(f"{i},0.5\n" for i in IDS),
        score=score,
        oracle=oracle,
    )


def two_scores() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.mean_roc_auc(truth[["a", "b"]], predictions[["a", "b"]])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        ensure(set(predictions.columns) == {"id", "a", "b"})
        answers, predictions = sorted_pair(predictions, answers, "id")
        return sum(metric("roc_auc_score")(answers[c], predictions[c]) for c in "ab") / 2

    return Case(
        table={"id": "id", "extra": "refused", "columns": {"*": {"type": "number", "from_text": True}}},
        answers=DataFrame({"id": NUMBERED, "a": [0, 1] * 4, "b": [1, 1, 0, 0] * 2}),
        sample="id,a,b\n" + "".join(f"{i},0.5,0.5\n" for i in NUMBERED),
        score=score,
        oracle=oracle,
    )


def class_label() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.accuracy(truth["y"], predictions["y"])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        answers, predictions = sorted_pair(predictions, answers, "id")
        return metric("accuracy_score")(answers["y"], predictions["y"])

    return Case(
        table={"id": "id", "columns": {"y": {"type": "label"}}},
        answers=DataFrame({"id": NUMBERED, "y": [1, 2, 3, 0, 1, 1, 2, 3]}),
        sample="id,y\n" + "".join(f"{i},1\n" for i in NUMBERED),
        score=score,
        oracle=oracle,
    )


def truth_value() -> Case:
    case = class_label()
    answers = DataFrame({"id": IDS, "y": [True, False] * 4})
    return Case(
        table=case.table,
        answers=answers,
        sample="id,y\n" + "".join(f"{i},False\n" for i in IDS),
        score=case.score,
        oracle=case.oracle,
    )


def ordered_label() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.quadratic_weighted_kappa(truth["y"], predictions["y"])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        answers, predictions = sorted_pair(predictions, answers, "id")
        return metric("cohen_kappa_score")(predictions["y"], answers["y"], weights="quadratic")

    case = class_label()
    return Case(table=case.table, answers=case.answers, sample=case.sample, score=score, oracle=oracle)


def cut_integer() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.macro_f1(truth["y"], predictions["y"])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        answers, predictions = sorted_pair(predictions, answers, "id")
        cut = [int(value) for value in predictions["y"]]
        ensure(all(-(2**63) <= value < 2**63 for value in cut))
        return metric("f1_score")(answers["y"], cut, average="macro")

    case = class_label()
    return Case(
        table={"id": "id", "columns": {"y": {"type": "integer"}}},
        answers=case.answers,
        sample=case.sample,
        score=score,
        oracle=oracle,
    )


def text_label() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.accuracy(truth["y"], predictions["y"])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        answers, predictions = sorted_pair(predictions, answers, "id")
        return metric("accuracy_score")(answers["y"], predictions["y"])

    return Case(
        table={"id": "id", "columns": {"y": {"type": "text"}}},
        answers=DataFrame({"id": IDS, "y": list("xyzxyzxy")}),
        sample="id,y\n" + "".join(f"{i},x\n" for i in IDS),
        score=score,
        oracle=oracle,
    )


def word_sets() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.micro_f1(truth["y"].tolist(), predictions["y"].tolist())

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        from sklearn.preprocessing import MultiLabelBinarizer

        answers, predictions = sorted_pair(predictions, answers, "id")
        binarizer = MultiLabelBinarizer(sparse_output=True)
        truth = binarizer.fit_transform(answers["y"].str.split())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return metric("f1_score")(
                truth, binarizer.transform(predictions["y"].fillna("").str.split()), average="micro"
            )

    return Case(
        table={"id": "id", "columns": {"y": {"type": "text", "missing": True}}},
        answers=DataFrame({"id": IDS, "y": ["x", "x y", "z", "x y z", "y", "z x", "x", "y"]}),
        sample="id,y\n" + "".join(f"{i},x\n" for i in IDS),
        score=score,
        oracle=oracle,
        odd=("x z", "x x  y", " ", "q"),
    )


def logarithm() -> Case:
    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.rmse(truth["a"], predictions["a"])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        return metric("root_mean_squared_error")(answers["a"], predictions["a"])

    return Case(
        table={
            "id": "id",
            "ids": "any",
            "order": "sample",
            "columns": {"a": {"type": "number", "from_text": True}},
        },
        answers=DataFrame({"id": NUMBERED, "a": [0.5 * k for k in range(8)]}),
        sample="id,a\n" + "".join(f"{i},0\n" for i in NUMBERED),
        score=score,
        oracle=oracle,
    )


def shares() -> Case:
    import numpy as np

    names = ["a", "b"]

    def score(truth: DataFrame, predictions: DataFrame) -> float:
        return metrics.log_loss(truth[names], predictions[names])

    def oracle(predictions: DataFrame, answers: DataFrame) -> float:
        answers, predictions = sorted_pair(predictions, answers, "id")
        ensure(np.isclose(predictions[names].sum(axis=1), 1, atol=1e-6).all())
        ensure(((predictions[names] >= 0) & (predictions[names] <= 1)).all(axis=None))
        return metric("log_loss")(answers[names], predictions[names])

    return Case(
        table={"id": "id", "sum_to_one": 1.1e-5, "columns": {"*": {"type": "number", "low": 0, "high": 1}}},
        answers=DataFrame({"id": IDS, "a": [0, 1] * 4, "b": [1, 0] * 4}),
        sample="id,a,b\n" + "".join(f"{i},0.5,0.5\n" for i in IDS),
        score=score,
        oracle=oracle,
        odd=("0.50001", "0.5000111", "0.49999"),
    )


CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make
    for make in (
        probability,
        two_scores,
        class_label,
        truth_value,
        ordered_label,
        cut_integer,
        text_label,
        word_sets,
        logarithm,
        shares,
    )
}
