"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_champs_scalar_coupling import TARGET
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray
    from pandas import DataFrame

# what the constant of each type is about; pairs of one kind are closer to it than to each other's
TYPES = {"1JHC": 95.0, "1JHN": 47.0, "2JHC": -3.0, "2JHH": -11.0, "2JHN": 3.0, "3JHC": 4.0, "3JHH": 5.0, "3JHN": 1.0}
TERMS = {"fc": 0.95, "sd": 0.01, "pso": 0.03, "dso": 0.01}  # shares of the constant
PAIRS = 12  # of a molecule


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """200 molecules times ``size``; 425 gives as many as there really are, with fewer pairs each."""
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(30, round(200 * size))
    numbers = rng.choice(np.arange(1, 2 * count + 10), count + 3, replace=False)
    names = np.array([f"dsgdb9nsd_{number:06d}" for number in numbers], dtype=object)
    known = names[:count]  # the others are Kaggle's test molecules: only their structures are there
    atoms = rng.randint(4, 9, len(names))
    pairs = _pairs(known, rng)
    table = pairs.drop(columns=list(TERMS))
    table.insert(0, "id", np.arange(len(table)))
    write_csv(table, raw / "train.csv")
    write_csv(pairs.drop(columns=TARGET), raw / "scalar_coupling_contributions.csv")
    for name, columns, each in (
        ("dipole_moments", ["X", "Y", "Z"], False),
        ("potential_energy", ["potential_energy"], False),
        ("mulliken_charges", ["mulliken_charge"], True),
        ("magnetic_shielding_tensors", [a + b for b in "XYZ" for a in "XYZ"], True),
    ):
        write_csv(_measured(known, atoms[:count] if each else None, columns, rng), raw / f"{name}.csv")
    _structures(raw, names, atoms, rng)
    test = table.head(5).drop(columns=TARGET).assign(molecule_name=names[-1])
    write_csv(test, raw / "test.csv")
    write_csv(test[["id"]].assign(**{TARGET: 0}), raw / "sample_submission.csv")


def _pairs(names: NDArray[np.object_], rng: RandomState) -> DataFrame:
    """Twelve pairs of atoms a molecule, every type among them, in no order."""
    import numpy as np
    import pandas as pd

    kinds = np.concatenate([np.tile(np.arange(8), (len(names), 1)), rng.randint(0, 8, (len(names), 4))], axis=1)
    total = kinds.size
    first = rng.randint(0, 4, total)
    table = pd.DataFrame({"molecule_name": np.repeat(names, PAIRS), "atom_index_0": first})
    table["atom_index_1"] = (first + rng.randint(1, 4, total)) % 4
    table["type"] = np.array(list(TYPES), dtype=object)[kinds.ravel()]
    bent = 2.0 * (first - table["atom_index_1"])
    table[TARGET] = (np.array(list(TYPES.values()))[kinds.ravel()] + bent + rng.normal(size=total)).round(4)
    table.loc[::50, TARGET] = table.loc[::50, TARGET].round(0)
    for term, share in TERMS.items():
        table[term] = share * table[TARGET]
    return table.iloc[rng.permutation(total)].reset_index(drop=True)


def _measured(
    names: NDArray[np.object_], atoms: NDArray[np.intp] | None, columns: list[str], rng: RandomState
) -> DataFrame:
    """One row per molecule, or one per atom, with these columns of numbers."""
    import numpy as np
    import pandas as pd

    if atoms is None:
        table = pd.DataFrame({"molecule_name": names})
    else:
        table = pd.DataFrame({"molecule_name": np.repeat(names, atoms)})
        table["atom_index"] = table.groupby("molecule_name", sort=False).cumcount()
    for column in columns:
        table[column] = rng.normal(size=len(table)).round(5)
    return table


def _structures(raw: Path, names: NDArray[np.object_], atoms: NDArray[np.intp], rng: RandomState) -> None:
    """Where each atom is: as one table, and as a text file a molecule."""
    import numpy as np

    table = _measured(names, atoms, ["x", "y", "z"], rng)
    table.insert(2, "atom", np.array(list("CHHHNOFC"), dtype=object)[table["atom_index"]])
    write_csv(table, raw / "structures.csv")
    (raw / "structures").mkdir()
    lines = (table["atom"] + " " + table[["x", "y", "z"]].astype(str).agg(" ".join, axis=1)).to_numpy()
    for name, end, count in zip(names, np.cumsum(atoms), atoms, strict=True):
        text = "".join(f"{line}\n" for line in lines[end - count : end])
        (raw / "structures" / f"{name}.xyz").write_bytes(f"{count}\n\n{text}".encode())
