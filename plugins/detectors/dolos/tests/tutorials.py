"""Ten honest tutorials for one competition: the same task, the same libraries, each in its own way."""

TUTORIALS = {
    "means": """
import pandas as pd

train = pd.read_csv("train.csv")
test = pd.read_csv("test.csv")
print(train.shape, test.shape)
print(train.describe())
print(train.isna().sum().sort_values(ascending=False).head())
rates = train.groupby("planet")["target"].mean()
print(rates)
overall = train["target"].mean()
test["target"] = test["planet"].map(rates).fillna(overall)
test["target"] = (test["target"] > 0.5).astype(int)
test[["passenger", "target"]].to_csv("submission.csv", index=False)
""",
    "logistic pipeline": """
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

train = pd.read_csv("train.csv", index_col="passenger")
test = pd.read_csv("test.csv", index_col="passenger")
numeric = ["age", "spa", "deck_spend"]
words = ["planet", "destination"]
prepare = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
    (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), words),
)
model = make_pipeline(prepare, LogisticRegression(C=0.3, max_iter=2000))
print(cross_val_score(model, train, train.target, cv=5, scoring="accuracy").mean())
model.fit(train, train.target)
answer = pd.Series(model.predict(test), index=test.index, name="target")
answer.to_csv("submission.csv")
""",
    "xgboost with folds": """
import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.model_selection import KFold

df_train = pd.read_csv("train.csv")
df_test = pd.read_csv("test.csv")
y = df_train.pop("target").values
both = pd.concat([df_train, df_test], ignore_index=True)
both["spent"] = both[["spa", "deck_spend", "mall"]].sum(axis=1)
both["no_spending"] = both["spent"] == 0
both = pd.get_dummies(both.drop(columns=["passenger", "cabin", "name"]), dummy_na=True)
X, X_test = both.iloc[: len(y)].to_numpy(float), both.iloc[len(y) :].to_numpy(float)
params = {"objective": "binary:logistic", "eta": 0.03, "max_depth": 5, "subsample": 0.8, "eval_metric": "error"}
oof, total = np.zeros(len(y)), np.zeros(len(X_test))
for i, (a, b) in enumerate(KFold(5, shuffle=True, random_state=1).split(X)):
    d_a, d_b = xgb.DMatrix(X[a], y[a]), xgb.DMatrix(X[b], y[b])
    booster = xgb.train(params, d_a, 2000, [(d_b, "valid")], early_stopping_rounds=100, verbose_eval=200)
    oof[b] = booster.predict(d_b)
    total += booster.predict(xgb.DMatrix(X_test)) / 5
print("accuracy", ((oof > 0.5) == y).mean())
pd.DataFrame({"passenger": df_test.passenger, "target": (total > 0.5).astype(bool)}).to_csv("sub.csv", index=False)
""",
    "exploration": """
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

data = pd.read_csv("train.csv")
data.info()
fig, axes = plt.subplots(2, 3, figsize=(15, 8))
for ax, column in zip(axes.flat, ["age", "spa", "deck_spend", "mall", "food", "room"]):
    sns.histplot(data=data, x=column, hue="target", bins=40, ax=ax)
    ax.set_title(column)
plt.tight_layout()
plt.show()
sns.heatmap(data.corr(numeric_only=True), annot=True, cmap="viridis")
plt.show()
table = pd.crosstab(data["planet"], data["destination"], values=data["target"], aggfunc="mean")
print(table.round(2))
for column in data.select_dtypes("object"):
    print(column, data[column].nunique(), data[column].value_counts().head(3).to_dict())
""",
    "network in torch": """
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
raw = pd.read_csv("train.csv")
columns = ["age", "spa", "deck_spend", "mall", "food"]
mean, std = raw[columns].mean(), raw[columns].std()


def tensor(frame):
    return torch.tensor(((frame[columns] - mean) / std).fillna(0).values, dtype=torch.float32)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(len(columns), width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


net = Net(64).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(tensor(raw), torch.tensor(raw.target.values).float()), batch_size=256, shuffle=True)
for epoch in range(30):
    running = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        running += loss.item() * len(x)
    print(epoch, running / len(raw))
net.eval()
test = pd.read_csv("test.csv")
with torch.no_grad():
    test["target"] = (net(tensor(test).to(device)) > 0).cpu().numpy()
test[["passenger", "target"]].to_csv("submission.csv", index=False)
""",
    "catboost": """
import pandas as pd
from catboost import CatBoostClassifier, Pool

train, test = (pd.read_csv(f"{part}.csv") for part in ("train", "test"))
for frame in (train, test):
    frame[["deck", "number", "side"]] = frame.cabin.str.split("/", expand=True)
    frame["number"] = frame["number"].astype(float)
    frame["surname"] = frame["name"].str.split().str[-1].fillna("none")
features = ["planet", "destination", "deck", "side", "age", "number", "spa", "food", "surname"]
texts = [f for f in features if train[f].dtype == object]
train[texts], test[texts] = train[texts].fillna("?"), test[texts].fillna("?")
model = CatBoostClassifier(iterations=1500, learning_rate=0.04, depth=6, verbose=250, random_seed=3)
model.fit(Pool(train[features], train.target, cat_features=texts))
importance = pd.Series(model.get_feature_importance(), features).sort_values()
print(importance.tail(5))
test.assign(target=model.predict(test[features])).to_csv("submission.csv", columns=["passenger", "target"], index=False)
""",
    "nearest neighbours by hand": """
import csv
import math
from collections import Counter


def load(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def point(row):
    return [math.log1p(float(row[name] or 0)) for name in ("age", "spa", "food", "mall")]


def distance(a, b):
    return sum((p - q) ** 2 for p, q in zip(a, b))


known = [(point(row), row["target"]) for row in load("train.csv")]
with open("submission.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["passenger", "target"])
    for row in load("test.csv"):
        here = point(row)
        near = sorted(known, key=lambda each: distance(each[0], here))[:15]
        writer.writerow([row["passenger"], Counter(label for _, label in near).most_common(1)[0][0]])
""",
    "stacking": """
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, StackingClassifier
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

frame = pd.read_csv("train.csv")
numbers = frame.select_dtypes("number").columns
fit, check = train_test_split(frame, test_size=0.2, stratify=frame["target"], random_state=11)
fill = fit[numbers].median()
stack = StackingClassifier(
    [
        ("trees", ExtraTreesClassifier(400, min_samples_leaf=3)),
        ("boosting", HistGradientBoostingClassifier(learning_rate=0.05)),
        ("bayes", GaussianNB()),
    ],
    final_estimator=RidgeClassifierCV(),
)
stack.fit(fit[numbers].fillna(fill), fit["target"])
print("held out:", stack.score(check[numbers].fillna(fill), check["target"]))
unseen = pd.read_csv("test.csv")
pd.DataFrame(
    {"passenger": unseen["passenger"], "target": stack.predict(unseen[numbers].fillna(fill))}
).to_csv("submission.csv", index=False)
""",
    "search with optuna": """
import lightgbm as lgb
import optuna
import pandas as pd

train = pd.read_csv("train.csv")
target = train.pop("target")
for column in train.columns:
    if train[column].dtype == object:
        train[column] = train[column].astype("category")


def objective(trial):
    params = {
        "objective": "binary",
        "learning_rate": trial.suggest_float("learning_rate", 0.005, 0.2, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 7, 127),
        "feature_fraction": trial.suggest_float("feature_fraction", 0.4, 1.0),
        "lambda_l2": trial.suggest_float("lambda_l2", 1e-6, 10.0, log=True),
        "verbosity": -1,
    }
    history = lgb.cv(params, lgb.Dataset(train, target), num_boost_round=400, nfold=5, seed=trial.number)
    return min(history["valid binary_logloss-mean"])


study = optuna.create_study(direction="minimize")
study.optimize(objective, n_trials=60, timeout=3600)
print(study.best_value, study.best_params)
best = lgb.train({**study.best_params, "objective": "binary"}, lgb.Dataset(train, target), 400)
best.save_model("model.txt")
""",
    "polars and groups": """
import polars as pl
from sklearn.ensemble import RandomForestClassifier

SPENDING = ["spa", "food", "mall", "room", "deck_spend"]


def features(path):
    rows = pl.read_csv(path).with_columns(
        group=pl.col("passenger").str.slice(0, 4),
        total=pl.sum_horizontal(SPENDING),
        child=pl.col("age") < 13,
    )
    sizes = rows.group_by("group").agg(size=pl.len(), together=pl.col("total").mean())
    return rows.join(sizes, on="group", how="left")


fit, predict = features("train.csv"), features("test.csv")
used = [*SPENDING, "total", "child", "size", "together", "age"]
forest = RandomForestClassifier(500, max_features=0.5, n_jobs=-1, oob_score=True)
forest.fit(fit.select(used).fill_null(-1), fit["target"])
print(f"out of bag: {forest.oob_score_:.4f}")
predict.select("passenger", target=pl.Series(forest.predict(predict.select(used).fill_null(-1)))).write_csv("s.csv")
""",
}
