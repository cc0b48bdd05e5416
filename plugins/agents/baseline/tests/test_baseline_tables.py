"""Tables and texts in the shapes that competitions have: the target is found, learned, and written validly."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

Attempt = Callable[..., tuple[pd.DataFrame, str]]
RNG = np.random.default_rng(7)


def numbers(made: pd.Series) -> np.ndarray:
    return pd.to_numeric(made).to_numpy(float)


def sentences(kind: np.ndarray) -> list[str]:
    """Texts that tell their kind by a word now and then."""
    common = ["the", "house", "of", "old", "night", "with", "a", "and", "wind", "sea"]
    own = [["ship", "sail"], ["ghost", "fear"], ["heart", "love"]]
    return [" ".join([*RNG.choice(common, 9), *RNG.choice(own[k], 2), f"n{i}"]) for i, k in enumerate(kind)]


def test_a_table_with_categories_gaps_and_flags(data: Path, attempt: Attempt) -> None:
    rows = 400
    table = pd.DataFrame(
        {
            "PassengerId": [f"{i // 2:04d}_{i % 2 + 1:02d}" for i in range(rows)],
            "Planet": RNG.choice(["Earth", "Mars", "Europa"], rows),
            "Asleep": RNG.choice([True, False, None], rows),
            "Cabin": [f"{RNG.choice(list('ABC'))}/{i}/{RNG.choice(list('PS'))}" for i in range(rows)],
            "Age": np.where(RNG.random(rows) < 0.1, np.nan, RNG.integers(1, 80, rows)),
        }
    )
    table["Transported"] = (table["Asleep"] == True) | (table["Cabin"].str[-1] == "S")  # noqa: E712
    test = table[300:].sample(frac=1, random_state=0)
    table[:300].to_csv(data / "train.csv", index=False)
    test.drop(columns="Transported").to_csv(data / "test.csv", index=False)
    sample = test[["PassengerId"]].assign(Transported=False)[::-1]  # in another order
    sample.to_csv(data / "sample_submission.csv", index=False)
    made, _ = attempt(sample, "accuracy")
    assert list(made["PassengerId"]) == list(sample["PassengerId"])
    assert set(made["Transported"]) == {"True", "False"}
    truth = table.set_index("PassengerId")["Transported"].astype(str)
    assert (made.set_index("PassengerId")["Transported"] == truth.reindex(made["PassengerId"])).mean() > 0.9


@pytest.mark.slow
def test_the_seed_changes_it_slightly_and_nothing_else_does(data: Path, attempt: Attempt) -> None:
    table = pd.DataFrame(RNG.normal(size=(400, 3)), columns=["a", "b", "c"]).assign(id=range(400))
    table["target"] = (table["a"] + table["b"] + RNG.normal(size=400) > 0).astype(int)
    table[:300].to_csv(data / "train.csv", index=False)
    table[300:].drop(columns="target").to_csv(data / "test.csv", index=False)
    sample = table[300:][["id"]].assign(target=0.5)
    first, again, other = (attempt(sample, "roc-auc", seed)[0] for seed in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)
    assert np.corrcoef(numbers(first["target"]), numbers(other["target"]))[0, 1] > 0.9


def test_texts_with_a_column_a_class(data: Path, attempt: Attempt) -> None:
    from sklearn.metrics import log_loss

    kind = RNG.integers(0, 3, 300)
    table = pd.DataFrame({"id": [f"id{i}" for i in range(300)], "text": sentences(kind)})
    table["author"] = np.array(["EAP", "HPL", "MWS"])[kind]
    table[:200].to_csv(data / "train.csv", index=False)
    table[200:].drop(columns="author").to_csv(data / "test.csv", index=False)
    made, _ = attempt(table[200:][["id"]].assign(EAP=0.4, HPL=0.3, MWS=0.3), "multi-class-log-loss")
    values = made[["EAP", "HPL", "MWS"]].apply(pd.to_numeric).to_numpy()
    assert np.abs(values.sum(axis=1) - 1).max() < 1e-6
    assert log_loss(kind[200:], values) < 0.5


def test_a_comment_that_is_its_own_id(data: Path, attempt: Attempt) -> None:
    from sklearn.metrics import roc_auc_score

    kind = RNG.integers(0, 2, 240)
    comments = [f'"{text}"' for text in sentences(kind)]
    comments[200] = '"lone \r return, NA"'
    table = pd.DataFrame({"Insult": kind, "Date": ["20120618192155Z", ""] * 120, "Comment": comments})
    table[:200].to_csv(data / "train.csv", index=False)
    table[200:][["Date", "Comment"]].to_csv(data / "test.csv", index=False, quoting=1)
    sample = table[200:].assign(Insult=0)
    made, _ = attempt(sample, "roc-auc")
    assert list(made["Comment"]) == comments[200:]
    assert roc_auc_score(kind[200:], numbers(made["Insult"])) > 0.9


def test_places_and_times(data: Path, attempt: Attempt) -> None:
    rows = 1200
    places = {f"{end}_{axis}": RNG.normal(40, 0.1, rows) for end in ("pickup", "dropoff") for axis in ("lon", "lat")}
    table = pd.DataFrame({"key": [f"2009-06-15 17:26:21.{i:07d}" for i in range(rows)], **places})
    table["pickup_datetime"] = pd.date_range("2009-01-01", periods=rows, freq="3h").strftime("%Y-%m-%d %H:%M:%S UTC")
    gap = np.hypot(table["dropoff_lon"] - table["pickup_lon"], table["dropoff_lat"] - table["pickup_lat"])
    hour = pd.to_datetime(table["pickup_datetime"]).dt.hour
    table["fare_amount"] = 3 + hour + 10 * gap + RNG.normal(0, 0.5, rows)
    table.loc[5, ["dropoff_lon", "dropoff_lat"]] = np.nan
    table[:1000].to_csv(data / "labels.csv", index=False)
    table[1000:].drop(columns="fare_amount").to_csv(data / "test.csv", index=False)
    made, _ = attempt(table[1000:][["key"]].assign(fare_amount=11.35), "root-mean-squared-error")
    truth = table["fare_amount"][1000:].to_numpy()
    assert np.sqrt(np.mean((numbers(made["fare_amount"]) - truth) ** 2)) < 0.4 * truth.std()


def test_json_with_lists_and_later_fields(data: Path, attempt: Attempt) -> None:
    from sklearn.metrics import roc_auc_score

    kind = RNG.integers(0, 2, 240)
    rows = [
        {"request_id": f"t3_{i:x}", "title": text, "subs": ["a", "b"][: i % 3], "karma": float(i % 7), "flair": None}
        for i, text in enumerate(sentences(kind))
    ]
    known = [{**row, "later": 1, "pizza": bool(k)} for row, k in zip(rows[:200], kind[:200], strict=True)]
    (data / "train.json").write_text(json.dumps(known))
    (data / "test.json").write_text(json.dumps(rows[200:]))
    for name in ("train", "test"):
        with zipfile.ZipFile(data / f"{name}.zip", "w") as archive:
            archive.write(data / f"{name}.json", f"{name}.json")
    sample = pd.DataFrame({"request_id": [row["request_id"] for row in rows[200:]], "pizza": 0})
    made, _ = attempt(sample, "roc-auc")
    assert roc_auc_score(kind[200:], numbers(made["pizza"])) > 0.85


@pytest.mark.parametrize(
    ("train", "sample", "why"),
    [
        (
            {"id": range(30), "boxes": [f"{i} 1 2 3" for i in range(30)]},
            {"id": range(5), "boxes": ""},
            "classes|nothing",
        ),
        ({"id": range(30), "x": range(30)}, {"id": range(5), "y": 0}, "no table holds"),
        ({"id": range(3), "y": range(3)}, {"id": range(5), "y": 0}, "too few rows"),
    ],
)
def test_what_it_has_no_model_for_it_says(
    data: Path, attempt: Attempt, train: dict[str, object], sample: dict[str, object], why: str
) -> None:
    pd.DataFrame(train).to_csv(data / "train.csv", index=False)
    with pytest.raises(Exception, match=why) as caught:
        attempt(pd.DataFrame(sample), "mean-average-precision")
    assert type(caught.value).__name__ == "NoModel"
