"""Synthetic data in the form of the download."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_h_and_m_personalized_fashion_recommendations import TRANSACTIONS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray
    from pandas import DataFrame

DAYS = 22
ARTICLE = (
    "product_code prod_name product_type_no product_type_name product_group_name graphical_appearance_no "
    "graphical_appearance_name colour_group_code colour_group_name perceived_colour_value_id "
    "perceived_colour_value_name perceived_colour_master_id perceived_colour_master_name department_no department_name "
    "index_code index_name index_group_no index_group_name section_no section_name garment_group_no "
    "garment_group_name detail_desc"
)
CUSTOMER = "FN Active club_member_status fashion_news_frequency age postal_code"


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """300 customers times ``size`` and about five purchases each; 20,000 gives as many as there really are."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(24, round(300 * size))
    customers = np.array(hex_ids(count + 5, 64, seed=seed), dtype=object)
    numbers = np.sort(rng.choice(900_000, max(10, min(50_000, count // 5)), replace=False)) * 1000 + 108_775_015
    articles = pd.DataFrame({"article_id": [f"{number:010d}" for number in numbers]})
    for name in ARTICLE.split():
        articles[name] = (
            rng.randint(0, 9, len(numbers)) if name.endswith(("_no", "_code", "_id")) else f"A {name}, plain"
        )
    write_csv(articles, raw / "articles.csv")
    people = pd.DataFrame({"customer_id": customers})
    for name in CUSTOMER.split():
        people[name] = (
            rng.choice([1.0, np.nan], len(people)) if name in ("FN", "Active") else rng.randint(16, 90, len(people))
        )
    write_csv(people, raw / "customers.csv")
    write_csv(_purchases(customers[:count], articles["article_id"].to_numpy(), rng), raw / "transactions_train.csv")
    popular = " ".join(articles["article_id"][:12])
    write_csv(pd.DataFrame({"customer_id": np.sort(customers), "prediction": popular}), raw / "sample_submission.csv")
    for name in articles["article_id"][:20]:
        path = raw / "images" / name[:3] / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff\xd8 a picture of " + name.encode() + b"\xff\xd9")


def _purchases(customers: NDArray[np.object_], articles: NDArray[np.object_], rng: RandomState) -> Iterator[DataFrame]:
    """Day after day. Each customer has a taste and buys the same few articles again; some come late, some stop."""
    import numpy as np
    import pandas as pd

    taste = rng.randint(0, len(articles), len(customers))
    come = np.where(np.arange(len(customers)) % 4 == 1, DAYS - 8, 0)  # new customers: on the test days only
    stop = np.where(np.arange(len(customers)) % 4 == 2, DAYS - 9, DAYS - 1)  # and lost ones: never on those
    for day in range(DAYS):
        buys = (rng.rand(len(customers)) < 0.25) & (come <= day) & (day <= stop)
        buys[0] = True
        who = np.repeat(np.flatnonzero(buys), 1 + rng.randint(0, 2, int(buys.sum())))
        liked = (taste[who] + rng.randint(0, 3, len(who))) % len(articles)
        liked = np.where(rng.rand(len(who)) < 0.2, rng.randint(0, len(articles), len(who)), liked)
        table = pd.DataFrame({"t_dat": f"{pd.Timestamp(2020, 9, 1 + day):%Y-%m-%d}", "customer_id": customers[who]})
        table["article_id"] = articles[liked]
        table["price"] = np.where(liked % 10 == 0, 8.47e-05, (1 + liked % 90) / 590)
        table["sales_channel_id"] = rng.randint(1, 3, len(who))
        again = np.sort(np.concatenate([np.arange(len(who)), rng.randint(0, len(who), len(who) // 10)]))
        yield table.iloc[again][TRANSACTIONS]
