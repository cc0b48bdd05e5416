"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_nomad2018_predict_transparent_conductors import TARGETS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    n = max(30, round(500 * size))
    atoms = rng.choice([10, 20, 30, 40, 60, 80], n)
    shares = rng.dirichlet([1, 1, 1], n).round(4)
    table = pd.DataFrame({"id": range(1, n + 1), "spacegroup": rng.choice([12, 33, 167, 194, 206, 227], n)})
    table["number_of_total_atoms"] = atoms.astype(float)
    for i, element in enumerate(("al", "ga", "in")):
        table[f"percent_atom_{element}"] = shares[:, i]
    for axis in (1, 2, 3):
        table[f"lattice_vector_{axis}_ang"] = (3 * np.cbrt(atoms) + rng.normal(scale=0.3, size=n)).round(4)
    for angle in ("alpha", "beta", "gamma"):
        table[f"lattice_angle_{angle}_degree"] = rng.choice([90.0, 89.9998, 120.0, 30.0032], n)
    energy = np.abs(0.05 + 0.3 * shares[:, 2] + 0.02 * rng.normal(size=n))
    table[TARGETS[0]] = np.where(rng.rand(n) < 0.02, 0.0, energy.round(4))
    table[TARGETS[1]] = np.abs(1 + 4 * shares[:, 0] - shares[:, 2] + 0.1 * rng.normal(size=n)).round(4)
    for part, rows in (("train", table), ("test", table.head(3).drop(columns=TARGETS))):
        with ZipWriter(raw / f"{part}.csv.zip") as archive, archive.open(f"{part}.csv") as member:
            write_csv(rows, member)
        with ZipWriter(raw / f"{part}.zip") as archive:
            for row in rows.itertuples():
                archive.add(f"{part}/{row.id}/geometry.xyz", _geometry(row.id, int(row.number_of_total_atoms), rng))


def _geometry(material: int, atoms: int, rng: RandomState) -> bytes:
    places = rng.uniform(0, 10, (atoms, 3)).round(6).tolist()
    lines = [
        f"# material {material}",
        *(f"lattice_vector {' '.join(str(10.0 * (i == k)) for k in range(3))}" for i in range(3)),
    ]
    lines += [f"atom {x} {y} {z} {'O' if i % 5 > 1 else 'Ga'}" for i, (x, y, z) in enumerate(places)]
    return ("\n".join(lines) + "\n").encode()
