"""Between a submission's bytes and its score: pairing, validating, and the metrics that several competitions share.

``inputs`` pairs a submission's rows with the answers', ``values`` turns columns into arrays and refuses what does not
fit, and every other module is one metric. All are exact to the published benchmark (pandas 2.3, scikit-learn 1.9),
whichever version of scikit-learn is installed.
"""

from mlecore.metrics.accuracy import accuracy
from mlecore.metrics.edit_distance import edit_distance
from mlecore.metrics.f1 import macro_f1, micro_f1
from mlecore.metrics.inputs import aligned, columns_of, known_ids, paired, read_answers, same_count, same_ids
from mlecore.metrics.kappa import quadratic_weighted_kappa
from mlecore.metrics.log_loss import log_loss
from mlecore.metrics.map_at_k import map_at_k
from mlecore.metrics.masks import area, decode_masks, dice, encode_mask, overlap
from mlecore.metrics.mean_error import mae, rmse, rmsle
from mlecore.metrics.roc_auc import mean_roc_auc, roc_auc
from mlecore.metrics.values import integers, labels, numbers, refuse, rows_sum_to_one, texts

__all__ = [
    "accuracy",
    "aligned",
    "area",
    "columns_of",
    "decode_masks",
    "dice",
    "edit_distance",
    "encode_mask",
    "integers",
    "known_ids",
    "labels",
    "log_loss",
    "macro_f1",
    "mae",
    "map_at_k",
    "mean_roc_auc",
    "micro_f1",
    "numbers",
    "overlap",
    "paired",
    "quadratic_weighted_kappa",
    "read_answers",
    "refuse",
    "rmse",
    "rmsle",
    "roc_auc",
    "rows_sum_to_one",
    "same_count",
    "same_ids",
    "texts",
]
