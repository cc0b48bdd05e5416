"""The metrics that a competition can be written with, by task; the first of a task is the usual one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mle_ext_own_data.draft import Metric, Task

_ROC_AUC = Metric(
    name="roc-auc",
    function="roc_auc",
    direction="maximize",
    form="probability",
    words="The area under the ROC curve: how often a row of the class gets a higher number than one that is not.",
    formula="P(ŷ₁ > ŷ₀) + P(ŷ₁ = ŷ₀) / 2",
)
_BINARY_LOG_LOSS = Metric(
    name="log-loss",
    function="log_loss",
    direction="minimize",
    form="probability",
    words="The log loss, with the natural logarithm.",
    formula="−Σ (y ln p + (1 − y) ln(1 − p)) / n",
)
_LOG_LOSS = Metric(
    name="multi-class-log-loss",
    function="log_loss",
    direction="minimize",
    form="probabilities",
    words="The log loss: minus the natural logarithm of the probability of the true class, on average.",
    formula="−Σ ln p(true class) / n",
)
_ACCURACY = Metric(
    name="accuracy",
    function="accuracy",
    direction="maximize",
    form="label",
    words="Accuracy: the share of rows whose label is right.",
    formula="Σ [ŷ = y] / n",
)
_MACRO_F1 = Metric(
    name="macro-f1",
    function="macro_f1",
    direction="maximize",
    form="label",
    words="Macro F1: the mean of the classes' F1, so that rare classes count as much as frequent ones.",
    formula="mean over classes of 2TP / (2TP + FP + FN)",
)
_KAPPA = Metric(
    name="quadratic-weighted-kappa",
    function="quadratic_weighted_kappa",
    direction="maximize",
    form="label",
    words="Cohen's kappa with quadratic weights: 1 is full agreement, 0 is that of chance; far misses cost more.",
    formula="1 − Σ w·O / Σ w·E, w = (i − j)²",
)
_RMSE = Metric(
    name="rmse",
    function="rmse",
    direction="minimize",
    form="number",
    words="The root mean squared error; of several targets the mean of their errors.",
    formula="√(Σ (y − ŷ)² / n)",
)
_MAE = Metric(
    name="mae",
    function="mae",
    direction="minimize",
    form="number",
    words="The mean absolute error.",
    formula="Σ |y − ŷ| / n",
)
_RMSLE = Metric(
    name="rmsle",
    function="rmsle",
    direction="minimize",
    form="number",
    words="The root mean squared logarithmic error, which measures ratios.",
    formula="√(Σ (ln(1 + y) − ln(1 + ŷ))² / n)",
    low=0,
)
_MEAN_ROC_AUC = Metric(
    name="mean-column-wise-roc-auc",
    function="mean_roc_auc",
    direction="maximize",
    form="probability",
    words="The mean of the targets' areas under the ROC curve.",
    formula="mean over targets of P(ŷ₁ > ŷ₀) + P(ŷ₁ = ŷ₀) / 2",
)
_MEAN_LOG_LOSS = Metric(
    name="mean-column-wise-log-loss",
    function="mean_log_loss",
    direction="minimize",
    form="probability",
    words="The mean of the targets' log losses, with the natural logarithm.",
    formula="mean over targets of −Σ (y ln p + (1 − y) ln(1 − p)) / n",
)
_MEAN_F1 = Metric(
    name="mean-f1",
    function="mean_f1",
    direction="maximize",
    form="labels",
    words="The mean of the rows' F1.",
    formula="mean over rows of 2TP / (2TP + FP + FN)",
)
_MICRO_F1 = Metric(
    name="micro-f1",
    function="micro_f1",
    direction="maximize",
    form="labels",
    words="Micro F1, over all pairs of a row and a label.",
    formula="2TP / (2TP + FP + FN)",
)
_NDCG = Metric(
    name="ndcg",
    function="ndcg",
    direction="maximize",
    form="score",
    words="NDCG: the mean over groups of the discounted cumulative gain, as a share of the best possible one.",
    formula="DCG / best DCG, DCG = Σ (2^relevance − 1) / log₂(rank + 1)",
)

METRICS: Mapping[Task, Sequence[Metric]] = {
    "binary": (_ROC_AUC, _BINARY_LOG_LOSS, _ACCURACY, _MACRO_F1),
    "multi-class": (_ACCURACY, _MACRO_F1, _LOG_LOSS),
    "ordinal": (_KAPPA, _ACCURACY, _MACRO_F1),
    "regression": (_RMSE, _MAE, _RMSLE),
    "multi-label": (_MEAN_ROC_AUC, _MEAN_LOG_LOSS, _MEAN_F1, _MICRO_F1),
    "ranking": (_NDCG,),
}
NAMES = tuple(dict.fromkeys(metric.name for metrics in METRICS.values() for metric in metrics))
