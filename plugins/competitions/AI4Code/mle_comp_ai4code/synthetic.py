"""Synthetic data in the form of the download."""

from __future__ import annotations

import json
from pathlib import Path

from mle_comp_ai4code import TEST
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, write_csv

CODE = ["import pandas as pd", "df.head()", "model.fit(x, y)", "print('é')", "plt.show()"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The test part takes 20,000 notebooks, whatever the size; of the others there are 1,000 at size 1."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = TEST + max(500, round(1000 * size))
    ids = sorted(hex_ids(count, 14, seed=seed))
    cells = iter(hex_ids(4 * count, 8, seed=seed))
    (raw / "train").mkdir()
    orders = []
    for id, length, codes in zip(ids, rng.randint(2, 5, count), rng.randint(1, 4, count), strict=True):
        order = [next(cells) for _ in range(length)]
        code = sorted(rng.permutation(length)[: min(codes, length - 1)])
        others = [place for place in rng.permutation(length) if place not in code]
        shown = {order[place]: ("code", f"{CODE[place]}  # step {place + 1}") for place in code}
        shown |= {order[place]: ("markdown", f"## Part {place + 1}: naïve “results”") for place in others}
        notebook = {"cell_type": {cell: kind for cell, (kind, _) in shown.items()}}
        notebook["source"] = {cell: text for cell, (_, text) in shown.items()}
        (raw / "train" / f"{id}.json").write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
        orders.append(" ".join(order))
    write_csv(pd.DataFrame({"id": ids, "cell_order": orders}), raw / "train_orders.csv")

    origins = iter(hex_ids(count, 8, seed=seed + 1))
    groups: list[str] = []
    while len(groups) < count:  # more than half of the groups are of one notebook
        groups += [next(origins)] * int(rng.choice([1, 1, 1, 2, 3, 5]))
    table = pd.DataFrame({"id": ids, "ancestor_id": groups[:count]})
    table["parent_id"] = [ids[other] if other < count // 4 else None for other in rng.permutation(count)]
    write_csv(table.iloc[rng.permutation(count)], raw / "train_ancestors.csv")

    (raw / "test").mkdir()
    (raw / "test" / "0009d135ece78d.json").write_text('{"cell_type": {"ddfd239c": "code"}, "source": {"ddfd239c": ""}}')
    (raw / "sample_submission.csv").write_text("id,cell_order\n0009d135ece78d,ddfd239c\n", newline="\n")
