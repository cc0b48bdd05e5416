"""Formulas that several competitions share, one per module.

By default all are exact to the published benchmark (pandas 2.3, scikit-learn 1.9), whichever version of scikit-learn is
installed.
"""

from mlecore.metrics.accuracy import accuracy
from mlecore.metrics.detection import average_precision, right_boxes
from mlecore.metrics.edit_distance import edit_distance
from mlecore.metrics.f1 import macro_f1, mean_f1, micro_f1
from mlecore.metrics.jaccard import word_jaccard
from mlecore.metrics.kappa import quadratic_weighted_kappa
from mlecore.metrics.log_loss import KAGGLE_CLIP, log_loss
from mlecore.metrics.map_at_k import map_at_k
from mlecore.metrics.masks import area, areas, dice, encode_mask, overlap, overlaps
from mlecore.metrics.mean_error import mae, rmse, rmsle
from mlecore.metrics.roc_auc import mean_roc_auc, roc_auc

__all__ = [
    "KAGGLE_CLIP",
    "accuracy",
    "area",
    "areas",
    "average_precision",
    "dice",
    "edit_distance",
    "encode_mask",
    "log_loss",
    "macro_f1",
    "mae",
    "map_at_k",
    "mean_f1",
    "mean_roc_auc",
    "micro_f1",
    "overlap",
    "overlaps",
    "quadratic_weighted_kappa",
    "right_boxes",
    "rmse",
    "rmsle",
    "roc_auc",
    "word_jaccard",
]
