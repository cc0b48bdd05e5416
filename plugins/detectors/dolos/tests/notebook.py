import numpy as np
import pandas as pd
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import StratifiedKFold

SEED = 7


def load(path):
    df = pd.read_csv(path)
    df["deck"] = df["cabin"].str.split("/").str[0]
    df["side"] = df["cabin"].str.split("/").str[2]
    df["group"] = df["passenger"].str.split("_").str[0]
    for name in ["age", "spa", "deck_spend"]:
        df[name] = df[name].fillna(df[name].median())
    for name in ["deck", "side", "planet"]:
        df[name] = df[name].astype("category").cat.codes
    return df


train = load("train.csv")
test = load("test.csv")
features = [c for c in train.columns if c not in ("passenger", "cabin", "target")]


def evaluate(model, frame, target):
    scores = []
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
    for fit, held in folds.split(frame, target):
        model.fit(frame.iloc[fit], target.iloc[fit])
        predictions = model.predict_proba(frame.iloc[held])[:, 1]
        scores.append(((predictions > 0.5) == target.iloc[held]).mean())
    return np.mean(scores), np.std(scores)


models = {
    "forest": RandomForestClassifier(n_estimators=300, random_state=SEED),
    "boosting": GradientBoostingClassifier(n_estimators=300, max_depth=3, random_state=SEED),
}
best = None
for name, model in models.items():
    mean, spread = evaluate(model, train[features], train["target"])
    print(f"{name}: {mean:.4f} +- {spread:.4f}")
    if best is None or mean > best[0]:
        best = (mean, name)
chosen = models[best[1]].fit(train[features], train["target"])
test["target"] = chosen.predict(test[features])
test[["passenger", "target"]].to_csv("submission.csv", index=False)
