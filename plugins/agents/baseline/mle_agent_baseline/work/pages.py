"""Images made from images (removing noise): each pixel predicted from its surroundings."""

from __future__ import annotations

import re

import numpy as np
from inventory import Inventory, Source
from PIL import Image
from problem import NoModel
from scipy import ndimage
from sklearn.ensemble import HistGradientBoostingRegressor
from submit import Sample
from threadpoolctl import threadpool_limits

PIXELS = 150_000  # to learn from
NAME = re.compile(r"(.+)_(\d+)_(\d+)")


def clean(inventory: Inventory, sample: Sample, seed: int) -> tuple[dict[str, np.ndarray], str]:
    """The value of each pixel that the sample asks for. Raises NoModel if the task is none of this kind."""
    if len(sample.columns) != 2 or not NAME.fullmatch(str(sample.table.iloc[0, 0])):
        raise NoModel("the sample's rows are no pixels")
    key, target = sample.columns
    spots = sample.table[key].str.extract(r"^(.+)_(\d+)_(\d+)$")
    if spots.isna().any(axis=None):
        raise NoModel("not all of the sample's rows are pixels")
    groups: dict[str, dict[str, Source]] = {}
    for source in inventory.images:
        groups.setdefault(source.folder, {})[source.stem] = source
    test = next((group for group in groups.values() if set(group) == set(spots[0])), None)
    noisy, whole = pair(groups, test)
    if test is None or noisy is None or whole is None:
        raise NoModel("no pairs of images to learn from")

    rng = np.random.default_rng(seed)
    inputs, outputs = [], []
    for stem, source in noisy.items():
        given, wanted = grey(source), grey(whole[stem])
        if given.shape == wanted.shape:
            chosen = rng.permutation(given.size)[: max(50, PIXELS // len(noisy))]
            inputs.append(surroundings(given)[chosen])
            outputs.append(wanted.ravel()[chosen])
    if not inputs:
        raise NoModel("the pairs of images differ in size")
    pixels = sum(map(len, inputs))
    model = HistGradientBoostingRegressor(
        max_iter=150 if pixels > 50_000 else 60, learning_rate=0.15, max_leaf_nodes=63, random_state=seed
    )
    with threadpool_limits(1 if pixels < 50_000 else None):
        model.fit(np.vstack(inputs), np.concatenate(outputs))

    values = np.empty(len(sample.table))
    rows, columns = spots[1].astype(int).to_numpy() - 1, spots[2].astype(int).to_numpy() - 1
    for stem, places in spots.groupby(0).indices.items():
        given = grey(test[str(stem)])
        made = np.clip(model.predict(surroundings(given)), 0, 1).reshape(given.shape)
        if rows[places].max() >= given.shape[0] or columns[places].max() >= given.shape[1]:
            raise NoModel(f"the sample asks for pixels outside of image {stem}")
        values[places] = made[rows[places], columns[places]]
    return {target: np.round(values, 5)}, f"boosting on the surroundings of pixels of {len(inputs)} pairs of images"


def pair(
    groups: dict[str, dict[str, Source]], test: dict[str, Source] | None
) -> tuple[dict[str, Source] | None, dict[str, Source] | None]:
    """Two folders with files of the same names: the one to learn from, and what should become of it."""
    for folder, group in groups.items():
        for other, partner in groups.items():
            better = re.search(r"clean|target|label|ground|gt", other.lower())
            if group is not partner and group is not test and set(group) == set(partner) and better and other != folder:
                return group, partner
    return None, None


def grey(source: Source) -> np.ndarray:
    with source.open() as stream, Image.open(stream) as image:
        return np.asarray(image.convert("L"), dtype=np.float32) / 255


def surroundings(grey: np.ndarray) -> np.ndarray:
    """For each pixel: itself and its neighbours, and what is usual, bright and dark around it at three scales."""
    padded = np.pad(grey, 2, mode="edge")
    height, width = grey.shape
    columns = [padded[down : down + height, right : right + width] for down in range(5) for right in range(5)]
    for size in (5, 15, 31):
        columns += [
            ndimage.uniform_filter(grey, size),
            ndimage.maximum_filter(grey, size),
            ndimage.minimum_filter(grey, size),
        ]
    paper = ndimage.uniform_filter(ndimage.maximum_filter(grey, 7), 21)  # how bright it is where nothing is written
    columns += [paper, grey - paper, np.full_like(grey, np.median(grey)), np.full_like(grey, grey.std())]
    return np.column_stack([column.ravel() for column in columns])
