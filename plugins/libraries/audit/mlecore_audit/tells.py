"""Check: do names, ids, orders, sizes, times or headers tell labels?

Each feature is tried on the test part by a small model, the mean of a bin's other rows (a histogram, cross-validated by
leaving one out), and compared with the same on shuffled labels. Holm's correction (1979) is for as many features as
were tried. What is seen of content, such as a size, must also carry over from training to test items, which are looked
at only then.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from mlecore_audit.explained import is_explained
from mlecore_audit.features import Feature, features
from mlecore_audit.finding import Finding, Level, flag
from mlecore_audit.subject import CLASS, Subject
from mlecore_audit.tables import numbers_of

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEWEST = 20  # items
_MOST = 20_000  # items that are compared
_BINS = 24
_SHRINK = 2.0  # rows of the overall mean that each bin's mean counts besides its own
_SHUFFLES = 60
_FIRST = 20  # shuffles after which a feature that is within ``_CLEAR`` deviations of them is given up
_CLEAR = 2.0
_FEW, _MORE = 2000, 1000  # items, fewer of which are tried with so many more shuffles before they count
_ALPHA = 1e-5  # chance of any false finding, by the distribution of shuffled results
_CLASSES = 60  # a column of more different answers that are no numbers is not tried
_TARGETS = 20
_HALF = 0.5  # of what a feature tells that must be known otherwise, for it to be no tell, or only a caution
_AS_GOOD = 0.8  # of the gain of a model of test items that one of training items must have, to be named instead
_WORTH, _MOSTLY, _NEARLY = 0.05, 0.5, 0.9  # gain of a submission: worth more than a note; half; nearly the answers
_PLACES = ("order", "rows", "neighbour")


@frozen(kw_only=True)
class _Tell:
    feature: Feature
    target: str
    chance: float  # that shuffled labels agree as well
    explained: float  # share of the labels' variance


def examine(subject: Subject) -> Iterator[Finding]:
    yield from _findings(subject, True)


def orders(subject: Subject) -> Iterator[Finding]:
    """What names and orders tell, for which no file is opened but archives and tables."""
    yield from _findings(subject, False)


def _findings(subject: Subject, content: bool) -> Iterator[Finding]:
    tried: list[_Tell] = []
    for feature in features(subject, "test", content):
        for target in subject.truths.columns[:_TARGETS] if CLASS not in subject.truths else [CLASS]:
            if (tell := _tell(subject, feature, target)) is not None:
                tried.append(tell)
    if not (told := _holm(tried)):
        return
    training = {(f.file.replace("train", "test"), f.name): f for f in features(subject, "train", content)}
    seen: set[tuple[str, str]] = set()
    for tell in told:
        if _is_known(subject, tell):
            continue
        key = (tell.feature.file, "order" if tell.feature.origin in _PLACES else tell.feature.name)
        if key not in seen:
            found = _finding(subject, tell, training)
            if found is not None:
                seen.add(key)
                yield found


def _is_known(subject: Subject, tell: _Tell) -> bool:
    """Does a public column tell as much: one that has the order, or the whole number to which a digit belongs?"""
    feature = tell.feature
    if feature.whole is not None and feature.origin == "digit":
        keys = feature.whole.index.intersection(subject.truths.index)
        labels = _labels(subject, tell.target, subject.truths.loc[keys, tell.target])
        whole = feature.whole.loc[keys]
        return labels is not None and _explained(_bins(whole, whole), labels) >= _HALF * tell.explained
    if feature.whole is not None and feature.origin == "neighbour":
        return is_explained(subject, feature.whole, _BINS)
    is_order = feature.origin in ("order", "rows") and feature.values.nunique() > _BINS
    return is_order and is_explained(subject, feature.values.astype(float), _BINS)


def _counterpart(feature: Feature, training: Mapping[tuple[str, str], Feature]) -> Feature | None:
    """The same feature of training items: in the folder named so, else in any."""
    exact = training.get((feature.file, feature.name))
    return exact or next((other for (_, name), other in training.items() if name == feature.name), None)


def _holm(tried: list[_Tell]) -> list[_Tell]:
    """Those that are no chance among so many, the surest first."""
    found = []
    for rank, tell in enumerate(sorted(tried, key=lambda tell: (tell.chance, -tell.explained))):
        if tell.chance > _ALPHA / (len(tried) - rank):
            break
        found.append(tell)
    return found


def _tell(subject: Subject, feature: Feature, target: str) -> _Tell | None:
    truth = subject.truths[target]
    keys = feature.values.index.intersection(truth.index)
    if len(keys) > _MOST:
        keys = keys[np.linspace(0, len(keys) - 1, _MOST).astype(int)]
    labels = _labels(subject, target, truth.loc[keys])
    if len(keys) < _FEWEST or labels is None:
        return None
    bins = _bins(feature.values.loc[keys], feature.values.loc[keys])
    if bins.max() == 0:
        return None
    explained = _explained(bins, labels)
    rng = np.random.default_rng(0)
    shuffled = [_explained(bins, labels[rng.permutation(len(labels))]) for _ in range(_FIRST)]
    if explained <= np.mean(shuffled) + _CLEAR * np.std(shuffled):
        return _Tell(feature=feature, target=target, chance=1.0, explained=explained)
    shuffled += [_explained(bins, labels[rng.permutation(len(labels))]) for _ in range(_SHUFFLES - _FIRST)]
    chance = _tail(explained, shuffled)
    if chance <= _ALPHA and len(keys) < _FEW:  # the tail of few shuffles is too rough for few items
        shuffled += [_explained(bins, labels[rng.permutation(len(labels))]) for _ in range(_MORE)]
        chance = _tail(explained, shuffled)
    return _Tell(feature=feature, target=target, chance=chance, explained=explained)


def _tail(value: float, shuffled: Sequence[float]) -> float:
    """The chance of so high a value, by the three first moments of shuffled ones (Winkler et al. 2016, Pearson III)."""
    mean, deviation = float(np.mean(shuffled)), max(float(np.std(shuffled)), 1e-12)
    skew = float(np.mean((np.asarray(shuffled) - mean) ** 3)) / deviation**3
    normal = math.erfc((value - mean) / deviation / math.sqrt(2)) / 2
    if normal > _ALPHA:  # too likely already: the import takes a second
        return normal
    from scipy.stats import pearson3

    return max(normal, float(pearson3.sf(value, max(0.0, skew), mean, deviation)))


def _labels(subject: Subject, target: str, truth: Series[str]) -> NDArray[np.float64] | None:
    """As columns: ranks of numbers, or one column for each class; None where there are too many classes."""
    import pandas as pd

    numbers = numbers_of(truth)
    is_quantity = truth.nunique() > (_CLASSES if _type(subject, target) == "label" else 2)
    if np.isfinite(numbers).all() and is_quantity:
        ranks: NDArray[np.float64] = pd.Series(numbers).rank().to_numpy(float)
        return ranks[:, None]
    if not 2 <= truth.nunique() <= min(_CLASSES, len(truth) / 2):
        return None
    codes: NDArray[np.int64] = pd.factorize(truth.to_numpy(), sort=True)[0]
    return np.asarray(np.eye(int(codes.max()) + 1)[codes])


def _bins(values: Series[str] | Series[float], own: Series[str] | Series[float]) -> NDArray[np.int64]:
    """The bin of each of ``values``: a category, or a range that holds as many of ``own`` as the others."""
    if own.dtype == object:
        usual = {value: code for code, value in enumerate(own.value_counts().index[: _BINS - 1], 1)}
        return np.fromiter((usual.get(value, 0) for value in values), np.int64)
    numbers = own.to_numpy(float)
    if len(np.unique(numbers)) <= _BINS:
        edges = np.unique(numbers)[1:]
    else:
        count = max(2, min(_BINS, len(numbers) // 8))
        edges = np.unique(np.quantile(numbers, np.linspace(0, 1, count + 1)[1:-1]))
    found: NDArray[np.int64] = np.searchsorted(edges, values.to_numpy(float), side="right").astype(np.int64)
    return found


def _explained(bins: NDArray[np.int64], labels: NDArray[np.float64]) -> float:
    """Share of the labels' variance that the mean of a bin's other rows explains; below 0 if it misleads."""
    counts = np.bincount(bins)[bins][:, None]
    mean = labels.mean(axis=0)
    sums = np.stack([np.bincount(bins, column) for column in labels.T], axis=1)[bins]
    guessed = (sums - labels + _SHRINK * mean) / (counts - 1 + _SHRINK)
    total = ((labels - mean) ** 2).sum()
    return float(1 - ((labels - guessed) ** 2).sum() / total) if total else 0.0


def _finding(subject: Subject, tell: _Tell, trained: Mapping[tuple[str, str], Feature]) -> Finding | None:
    feature = tell.feature
    training = _counterpart(feature, trained)
    learned = subject.score_cells(_learned(subject, tell, training))
    carries = subject.gain(learned) >= _WORTH
    is_content = feature.origin in ("content", "size") or (feature.origin == "digit" and carries)
    if is_content and subject.train is not None and training is not None and not carries:
        return None
    left_out = subject.score_cells(_left_out(subject, tell))
    carries = carries and subject.gain(learned) >= subject.gain(left_out) * _AS_GOOD
    score = learned if carries else left_out
    how = "a model of it learned from training items" if carries else "a model of it, cross-validated on test items,"
    evidence = (
        f"{feature.name} tells {tell.target!r}: {how} explains {max(0.0, tell.explained):.0%} of its variance "
        f"(p {'<' if tell.chance < 1e-12 else '='} {max(tell.chance, 1e-12):.1g} against shuffled labels)"
    )
    level = _level(subject, feature, score, tell.explained, is_content)
    if level == "leak" and feature.origin in _PLACES and _flows(subject, tell, trained.values()):
        level = "caution"
    kind = "order" if feature.origin in _PLACES else "content" if feature.origin == "size" else feature.origin
    return Finding(
        level=level, kind=kind, file=feature.file, evidence=evidence, score=score, fix=_fix(subject, feature)
    )


def _fix(subject: Subject, feature: Feature) -> str | None:
    if feature.origin == "rows":
        return "shuffle the rows before you write them"
    if feature.origin not in ("order", "name", "neighbour"):
        return None
    if feature.file in {table.where for table in subject.tables("test")}:
        return f"number the rows anew, in random order: {flag('drop', subject.keys)}"
    return "name the files by random ids, and write them in random order"


def _level(subject: Subject, feature: Feature, score: float | None, explained: float, is_content: bool) -> Level:
    """Neighbours in a table may be alike, as of one recording; that is a leak only where it tells most."""
    gain = max(subject.gain(score), explained if subject.gain(score) == 0 else 0.0)
    if feature.origin in ("rows", "neighbour"):
        return "leak" if gain >= _MOSTLY else "caution"
    if is_content:
        is_leak = gain >= _NEARLY and feature.origin != "size"
        return "leak" if is_leak else "caution" if gain >= _WORTH else "note"
    return "leak" if gain >= _WORTH else "caution"


def _flows(subject: Subject, tell: _Tell, training: Iterable[Feature]) -> bool:
    """Is it like time: training rows stand beside similar ones, too, and test rows are not sorted by their labels?"""
    truth = subject.truths[tell.target]
    places = tell.feature.whole if tell.feature.origin == "neighbour" else tell.feature.values
    assert places is not None
    inorder = truth.loc[places.sort_values().index.intersection(truth.index)]
    runs, steps = int((inorder != inorder.shift()).sum()), np.diff(numbers_of(inorder))
    rising, falling = (steps > 0).sum(), (steps < 0).sum()
    is_sorted = max(rising, falling) >= _NEARLY * (rising + falling)
    if is_sorted or runs <= 2 * inorder.nunique() <= len(inorder) / 4 or subject.train is None:
        return False
    known = _column(subject, subject.train, tell.target)
    for places in (feature.values for feature in training if feature.origin in ("order", "rows")):
        keys = places.index.intersection(known.index)
        labels = _labels(subject, tell.target, known.loc[keys]) if len(keys) >= _FEWEST else None
        bins = _bins(places.loc[keys], places.loc[keys])
        if labels is not None and _explained(bins, labels) >= _HALF * tell.explained:
            return True
    return False


def _learned(subject: Subject, tell: _Tell, training: Feature | None) -> DataFrame | None:
    """Cells of a submission: predictions for test items by the bins of training items."""

    if subject.train is None or training is None or training.values.dtype != tell.feature.values.dtype:
        return None
    truth = _column(subject, subject.train, tell.target)
    keys = training.values.index.intersection(truth.index)
    if len(keys) < _FEWEST:
        return None
    bins = _bins(training.values.loc[keys], training.values.loc[keys])
    theirs = _bins(tell.feature.values, training.values.loc[keys])
    return _cells(subject, tell.target, truth.loc[keys], bins, theirs, list(tell.feature.values.index), False)


def _left_out(subject: Subject, tell: _Tell) -> DataFrame | None:
    """Cells of a submission: for each test item the prediction of its bin's other test items."""
    truth = subject.truths[tell.target]
    keys = tell.feature.values.index.intersection(truth.index)
    values = tell.feature.values.loc[keys]
    bins = _bins(values, values)
    return _cells(subject, tell.target, truth.loc[keys], bins, bins, list(keys), True)


def _column(subject: Subject, frame: DataFrame, target: str) -> Series[str]:
    return frame.isin(["1", "1.0"]).idxmax(axis=1) if target == CLASS else frame[target]


def _cells(
    subject: Subject,
    target: str,
    truth: Series[str],
    bins: NDArray[np.int64],
    theirs: NDArray[np.int64],
    keys: Sequence[str],
    leave_out: bool,
) -> DataFrame | None:
    """Predictions in the form of a submission: shares of classes where those are asked, else the class or the mean."""
    import pandas as pd

    numbers = numbers_of(truth)
    whole = not np.isfinite(numbers).all()
    classes = [] if not whole and truth.nunique() > 2 and not _is_label(subject, target) else sorted(truth.unique())
    if len(classes) > 2000:
        return None
    columns = np.stack([(truth == c).to_numpy(float) for c in classes], axis=1) if classes else numbers[:, None]
    size = int(max(bins.max(), theirs.max())) + 1
    sums = np.stack([np.bincount(bins, column, minlength=size) for column in columns.T], axis=1)[theirs]
    counts = np.bincount(bins, minlength=size)[theirs][:, None].astype(float)
    if leave_out:
        guessed = (sums - columns + _SHRINK * columns.mean(axis=0)) / (counts - 1 + _SHRINK)
    else:
        guessed = (sums + _SHRINK * columns.mean(axis=0)) / (counts + _SHRINK)
    index = pd.Index(keys)
    if not classes:
        return pd.DataFrame({target: map(repr, guessed[:, 0].tolist())}, index)
    if target == CLASS:
        return pd.DataFrame(guessed, index, classes).map(repr)
    if not _is_label(subject, target) and set(classes) <= {"0", "1", "0.0", "1.0"}:
        return pd.DataFrame({target: map(repr, guessed[:, -1].tolist())}, index)
    return pd.DataFrame({target: np.array(classes, object)[guessed.argmax(axis=1)]}, index)


def _is_label(subject: Subject, target: str) -> bool:
    return _type(subject, target) in ("label", "integer", "text")


def _type(subject: Subject, target: str) -> str:
    rule = subject.competition.format.expand(subject.targets).get(target)
    return rule.type if rule is not None else ""
