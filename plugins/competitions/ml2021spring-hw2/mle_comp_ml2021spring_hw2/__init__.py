"""ML2021Spring-hw2: which phoneme is spoken in a frame of speech?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, ensure, new_file, split_positions, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = Path("timit_11", "timit_11")
_ROWS = 20_000  # written at once


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    frames, labels, share = read(raw)
    write(public, private, frames, labels, *split_positions(len(frames), test_size=share))


def read(raw: Path) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Frames and their labels, on the disk; and the share of all frames that are Kaggle's test part."""
    folder = raw / FOLDER
    frames, labels, others = (_load(folder / f"{name}.npy") for name in ("train_11", "train_label_11", "test_11"))
    ensure(len(frames) == len(labels), f"{folder} has {len(frames)} frames and {len(labels)} labels")
    return frames, labels, len(others) / (len(others) + len(frames))


def write(
    public: Path,
    private: Path,
    frames: NDArray[Any],
    labels: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> None:
    """All that prepared data hold; ``train`` and ``test`` are positions, in the order to be written."""
    import pandas as pd

    _save(frames, train, public / FOLDER / "train_11.npy")
    _save(labels, train, public / FOLDER / "train_label_11.npy")
    _save(frames, test, public / FOLDER / "test_11.npy")
    answers = pd.DataFrame({"Id": range(len(test)), "ClassId": labels[test]})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(ClassId=0), public / "sampleSubmission.csv")


def _load(path: Path) -> NDArray[Any]:
    """An array that stays on the disk."""
    import numpy as np

    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (ValueError, EOFError) as error:
        raise DataError(f"{path} cannot be read as an array: {error}") from None
    return array


def _save(array: NDArray[Any], rows: NDArray[np.intp], target: Path) -> None:
    """The bytes of ``np.save(target, array[rows])``, with few rows in memory."""
    import numpy as np

    with new_file(target) as file:
        header = np.lib.format.header_data_from_array_1_0(array[:0].copy())
        np.lib.format.write_array_header_1_0(file, header | {"shape": (len(rows), *array.shape[1:])})
        for start in range(0, len(rows), _ROWS):
            file.write(array[rows[start : start + _ROWS]].tobytes())


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["ClassId"], predictions["ClassId"])
