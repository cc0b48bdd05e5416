"""Lyft 3D Object Detection: find and classify the objects around a self-driving car."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_unique,
    link_file,
    link_files,
    read_answers,
    read_csv,
    read_json,
    read_json_objects,
    split,
    write_csv,
    write_json,
    write_json_objects,
)
from mlecore_toolkit.submissions.messages import row_name
from mlecore_toolkit.submissions.records import flatten

if TYPE_CHECKING:
    from pandas import DataFrame

PARTS = ("train", "test")
FOLDERS = {"jpeg": "images", "bin": "lidar"}  # of sensor files, by their format
MAP = "map_raster_palo_alto.png"
ALIKE = ("attribute", "category", "sensor", "visibility")  # the same in both parts
YAW = 7  # its place in a predicted object
TRUE = 8  # words of an object of the truth; a predicted one has its confidence first

Parts = Mapping[str, str]  # token -> part


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    tables = raw / "train_data"
    logs = [str(log["token"]) for log in read_json(tables / "log.json")]
    ensure_unique(logs, "tokens of log.json")
    drawn = dict(zip(PARTS, split(logs, test_size=0.2), strict=True))
    of_log = {log: part for part in PARTS for log in drawn[part]}
    samples = read_json(tables / "sample.json")
    ensure_unique([sample["token"] for sample in samples], "tokens of sample.json")
    of_sample = {sample["token"]: _part(sample, "scene_token", of_log, "sample.json") for sample in samples}
    _objects(raw, public, private, of_sample)
    (record,) = _exactly_one(read_json(tables / "map.json"))
    for part in PARTS:
        folder = public / f"{part}_data"
        _records_of(part, tables / "log.json", folder, "token", of_log)
        _records_of(part, tables / "sample.json", folder, "scene_token", of_log)
        _records_of(part, tables / "scene.json", folder, "log_token", of_log)
        _records_of(part, tables / "sample_data.json", folder, "sample_token", of_sample)
        write_json([record | {"log_tokens": drawn["test"]}], folder / "map.json")  # published so, in both parts
        for name in ALIKE:
            link_file(tables / f"{name}.json", folder / f"{name}.json")
        link_file(raw / "train_maps" / MAP, public / f"{part}_maps" / MAP)
    _records_of("train", tables / "sample_annotation.json", public / "train_data", "sample_token", of_sample)
    _instances(tables, public, of_sample)
    _sensors(raw, public, of_sample)


def _part(record: Mapping[str, Any], key: str, parts: Parts, name: str) -> str:
    part = parts.get(str(record.get(key)))
    ensure(part, f"{name}: a record has the {key} {record.get(key)!r}, which is in neither part of the split")
    return str(part)


def _exactly_one(records: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    ensure(len(records) == 1, f"map.json has {len(records)} records; expected one")
    return records


def _records_of(part: str, source: Path, folder: Path, key: str, parts: Parts) -> None:
    """Write the records of a file that belong to a part, in their order."""
    every = read_json_objects(source)
    write_json_objects((r for r in every if _part(r, key, parts, source.name) == part), folder / source.name)


def _objects(raw: Path, public: Path, private: Path, of_sample: Parts) -> None:
    """The tables of objects; in the answers each has a confidence of 1.0 in front."""
    table = read_csv(raw / "train.csv", float_precision=None)
    home = table["Id"].map(of_sample)
    ensure(not home.isna().any(), "train.csv: an Id is not in sample.json")
    counts = {part: list(of_sample.values()).count(part) for part in PARTS}
    for part in PARTS:
        rows = int((home == part).sum())
        ensure(rows == counts[part], f"train.csv has {rows} rows of the {part} part, sample.json {counts[part]}")
    test = table[home == "test"]
    write_csv(table[home == "train"], public / "train.csv")
    confident = [_with_confidence(text) for text in test["PredictionString"]]
    write_csv(test.assign(PredictionString=confident), private / "test.csv")
    write_csv(test.assign(PredictionString=""), public / "sample_submission.csv")


def _with_confidence(text: str) -> str:
    ensure(isinstance(text, str), "train.csv: a PredictionString is empty, or a number")
    words = text.split(" ")
    ensure(
        len(words) % TRUE == 0, f"train.csv: a PredictionString is not made of {TRUE} words an object: {text[:80]!r}"
    )
    return " ".join(" ".join(["1.0", *words[i : i + TRUE]]) for i in range(0, len(words), TRUE))


def _instances(tables: Path, public: Path, of_sample: Parts) -> None:
    """The instances that are annotated in the train part; every other one must be annotated in the test part."""
    seen: dict[str, set[str]] = {part: set() for part in PARTS}
    for record in read_json_objects(tables / "sample_annotation.json"):
        seen[_part(record, "sample_token", of_sample, "sample_annotation.json")].add(record["instance_token"])
    parts = dict.fromkeys(seen["test"], "test") | dict.fromkeys(seen["train"], "train")
    _records_of("train", tables / "instance.json", public / "train_data", "token", parts)


def _sensors(raw: Path, public: Path, of_sample: Parts) -> None:
    """Calibrated sensors, poses and sensor files, as the sensor data of each part use them."""
    tables = raw / "train_data"
    sensors: dict[str, dict[str, None]] = {part: {} for part in PARTS}
    poses: dict[str, list[str]] = {part: [] for part in PARTS}
    files: dict[tuple[str, str], dict[str, None]] = {(part, kind): {} for part in PARTS for kind in FOLDERS}
    paths = set()
    for record in read_json_objects(tables / "sample_data.json"):
        part = _part(record, "sample_token", of_sample, "sample_data.json")
        sensors[part][record["calibrated_sensor_token"]] = None
        poses[part].append(record["ego_pose_token"])
        kind, path = record["fileformat"], str(record["filename"])
        ensure(kind in FOLDERS, f"sample_data.json: {path} has the unknown fileformat {kind!r}")
        ensure(path.endswith(kind), f"sample_data.json: {path} does not end in its fileformat, {kind}")
        paths.add(path)
        files[part, kind][path.rpartition("/")[2]] = None
    found = sum(map(len, files.values()))
    ensure(found == len(paths), f"sample_data.json has {len(paths)} file names, which make {found} files")
    _used(tables / "calibrated_sensor.json", public, sensors)
    _used(tables / "ego_pose.json", public, poses)
    for (part, kind), names in files.items():
        folder = f"{part}_{FOLDERS[kind]}"
        (public / folder).mkdir(parents=True, exist_ok=True)
        link_files(raw / f"train_{FOLDERS[kind]}", public / folder, list(names))


def _used(source: Path, public: Path, tokens: Mapping[str, Sequence[str] | Mapping[str, None]]) -> None:
    """Write the records that each part uses, in the order of its tokens. Together they must use all."""
    records = {record["token"]: record for record in read_json_objects(source)}
    used = set().union(*tokens.values())
    ensure(used <= records.keys(), f"{source.name} lacks records that sample_data.json uses")
    ensure(used >= records.keys(), f"{source.name} has records that sample_data.json never uses")
    for part in PARTS:
        write_json_objects((records[token] for token in tokens[part]), public / f"{part}_data" / source.name)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    from mle_comp_3d_object_detection_for_autonomous_vehicles.boxes import mean_average_precision

    answers = read_answers(private / "test.csv", ["Id", "PredictionString"])
    truth, predictions = format.read(submission, answers)
    examine(predictions)
    asked = format.columns["PredictionString"].read(truth, "PredictionString", truth)
    return mean_average_precision(asked, predictions)


@hookimpl
def examine(predictions: DataFrame) -> None:
    import numpy as np

    rows, found = flatten(predictions["PredictionString"])
    yaws = found.words[YAW]
    if np.isinf(yaws).any():
        first = int(np.isinf(yaws).argmax())
        raise InvalidSubmission(f"{row_name(predictions, int(rows[first]))}: a yaw must be finite; found {yaws[first]}")
