"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_mlsp_2013_birds import ARCHIVE, ESSENTIAL, PICTURES, SEGMENTS, SPECIES, SUPPLEMENTAL
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode, picture, wav

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """About as many of Kaggle's own test recordings, unlabelled, lie between the labelled ones."""
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(60, round(120 * size))
    folds = rng.permutation(np.arange(count) % 2)
    heard = [np.flatnonzero(rng.rand(SPECIES) < np.linspace(0.25, 0.02, SPECIES)) for _ in range(count)]
    names = [f"PC{1 + i % 13}_2009{5 + i % 4:02d}{1 + i % 28:02d}_{i:06d}_0010" for i in range(count)]
    with ZipWriter(raw / ARCHIVE) as archive:

        def text(name: str, header: str, lines: list[str]) -> None:
            archive.add(name, "\n".join([header, *lines, ""]).encode())

        text(f"{ESSENTIAL}/CVfolds_2.txt", "rec_id,fold", [f"{i},{fold}" for i, fold in enumerate(folds)])
        text(f"{ESSENTIAL}/rec_id2filename.txt", "rec_id,filename", [f"{i},{n}" for i, n in enumerate(names)])
        labels = [",".join(map(str, [i, *heard[i]])) if not folds[i] else f"{i},?" for i in range(count)]
        text(f"{ESSENTIAL}/rec_labels_test_hidden.txt", "rec_id,[labels]", labels)
        species = [f"{k},SP{k:02d},Species number {k}" for k in range(SPECIES)]
        text(f"{ESSENTIAL}/species_list.txt", "class_id,code,species", species)
        rows: dict[str, list[str]] = {name: [] for name in SEGMENTS}
        for i, birds in enumerate(heard):
            bars = np.zeros(100)
            bars[5 * birds] = 1.0  # each species has a cluster of its own
            bars = (bars + 0.1 * rng.rand(100)).round(3)
            rows["histogram_of_segments"].append(",".join([str(i), *map(str, bars)]))
            for segment in range(rng.randint(0, 4)):  # some recordings have none
                features = [f"{x:.2e}" if k % 3 else f"{x:.2f}" for k, x in enumerate(rng.rand(38))]
                rows["segment_features"].append(",".join([str(i), str(segment), *features]))
                box = map(str, rng.randint(0, 200, 4))
                rows["segment_rectangles"].append(",".join([str(i), str(segment), *box]))
        for name, lines in rows.items():
            text(f"{SUPPLEMENTAL}/{name}.txt", f"rec_id,[{name.replace('_', ' ')}]", lines)
        _media(archive, rng, names, heard)


def _media(archive: ZipWriter, rng: RandomState, names: list[str], heard: list[NDArray[np.intp]]) -> None:
    """Sounds with a tone for each species, and pictures of any kind."""
    import numpy as np

    time = np.arange(8000) / 16000
    for number, (name, birds) in enumerate(zip(names, heard, strict=True)):
        sound = 800 * rng.normal(size=len(time))
        for bird in birds:
            sound += 2500 * np.sin(2 * np.pi * (400 + 350 * bird) * time)
        samples = sound.clip(-32768, 32767).astype(np.int16)
        archive.add(f"{ESSENTIAL}/src_wavs/{name}.wav", wav(samples, 16000))
        folders = (*PICTURES, "segmentation_examples") if number % 10 == 3 else PICTURES
        for folder in folders:
            image = encode(picture(rng, len(birds), 40, 16), "BMP")
            archive.add(f"{SUPPLEMENTAL}/{folder}/{name}.bmp", image)
    for name in ("clusters", "mosaic"):
        archive.add(f"{SUPPLEMENTAL}/segment_{name}.bmp", encode(picture(rng, 0), "BMP"))
