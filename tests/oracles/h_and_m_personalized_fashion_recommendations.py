import shutil

import pandas as pd

COLUMNS = ["t_dat", "customer_id", "article_id", "price", "sales_channel_id"]


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "transactions_train.csv", float_precision="round_trip")
    days = pd.to_datetime(rows["t_dat"])
    is_test = days >= days.max() - pd.Timedelta(days=7)
    rows[~is_test][COLUMNS].to_csv(public / "transactions_train.csv", index=False)
    bought = rows[is_test].groupby("customer_id")["article_id"]
    answers = bought.apply(lambda ids: " ".join(map(str, ids))).rename("prediction").reset_index()
    answers.sort_values("customer_id").to_csv(private / "answers.csv", index=False)
    for name in ("sample_submission.csv", "articles.csv", "customers.csv"):
        shutil.copy(raw / name, public)
    shutil.copytree(raw / "images", public / "images")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert sorted(predictions.columns) == ["customer_id", "prediction"]
    assert set(truth["customer_id"]) <= set(predictions["customer_id"])
    predictions = predictions[predictions["customer_id"].isin(truth["customer_id"])].sort_values("customer_id")
    truth = truth.sort_values("customer_id")
    scores = []
    pairs = zip(predictions["prediction"].astype(str), truth["prediction"].astype(str), strict=False)
    for said, right in pairs:
        wanted, parts = set(right.split(" ")), said.split(" ")[:12]
        hits, total = 0, 0.0
        for place, part in enumerate(parts):
            if part in wanted and part not in parts[:place]:
                hits += 1
                total += hits / (place + 1)
        scores.append(total / min(len(wanted), 12))
    return sum(scores) / len(truth)
