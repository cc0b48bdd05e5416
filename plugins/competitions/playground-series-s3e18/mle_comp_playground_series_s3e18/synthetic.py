"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_playground_series_s3e18 import ASKED, CLASSES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

FEATURES = (
    "BertzCT Chi1 Chi1n Chi1v Chi2n Chi2v Chi3v Chi4n EState_VSA1 EState_VSA2 ExactMolWt FpDensityMorgan1"
    " FpDensityMorgan2 FpDensityMorgan3 HallKierAlpha HeavyAtomMolWt Kappa3 MaxAbsEStateIndex MinEStateIndex"
    " NumHeteroatoms PEOE_VSA10 PEOE_VSA14 PEOE_VSA6 PEOE_VSA7 PEOE_VSA8 SMR_VSA10 SMR_VSA5 SlogP_VSA3 VSA_EState9"
    " fr_COO fr_COO2"
).split()
WHOLE = ["NumHeteroatoms", "fr_COO", "fr_COO2"]  # numbers; the others are decimals


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """400 molecules times ``size``; 37 gives as many as there really are. Large ones belong to EC1, acids to EC2."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(60, round(400 * size))
    mass, acids = rng.gamma(4, 80, count + 5), rng.poisson(1.0, count + 5)
    columns: dict[str, object] = {"id": np.arange(count + 5)}
    for place, name in enumerate(FEATURES):
        if name in WHOLE:
            columns[name] = acids + (rng.poisson(3.0, count + 5) if name == "NumHeteroatoms" else 0)
        else:
            columns[name] = mass * (0.05 + 0.1 * place) * rng.uniform(0.8, 1.2, count + 5)
    table = pd.DataFrame(columns)
    chances = {"EC1": 1 / (1 + np.exp((320 - mass) / 60)), "EC2": 1 / (1 + np.exp(1.5 - 1.5 * acids))}
    for name in CLASSES:
        table[name] = (rng.rand(count + 5) < chances.get(name, 0.3)).astype(int)
    write_csv(table.head(count), raw / "train.csv")
    test = table.tail(5)
    write_csv(test.drop(columns=CLASSES), raw / "test.csv")
    write_csv(test[["id"]].assign(**dict.fromkeys(ASKED, 0.5)), raw / "sample_submission.csv")
