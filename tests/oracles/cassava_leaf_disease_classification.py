"""Cassava Leaf Disease Classification, from its sheet."""

import shutil

import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def read(path):
    return pd.read_csv(path, float_precision="round_trip")


def records(path):
    data = path.read_bytes()
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 8], "little")
        yield data[at + 12 : at + 12 + length]
        at += 12 + length + 4


def fields(message):
    """(number, content) of the length-delimited fields of a protobuf message."""

    def varint(at):
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at

    at = 0
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 2:
            length, at = varint(at)
            yield key >> 3, message[at : at + length]
            at += length
        else:
            _, at = varint(at)


def image_name(record):
    for entry in [inner for _, features in fields(record) for _, inner in fields(features)]:
        entry = dict(fields(entry))
        if entry[1] == b"image_name":
            return dict(fields(dict(fields(entry[2]))[1]))[1].decode()
    raise ValueError("no image_name")


def prepare(raw, public, private):
    table = read(raw / "train.csv")
    assert list(table.columns) == ["image_id", "label"]
    files = sorted(path for path in (raw / "train_tfrecords").iterdir() if path.is_file() and path.suffix == ".tfrec")
    train_files, test_files = train_test_split(files, test_size=0.1, random_state=0)
    ids = {image_name(record) for path in test_files for record in records(path)}
    in_test = table["image_id"].isin(ids)
    table[~in_test].to_csv(public / "train.csv", index=False)
    table[in_test].to_csv(private / "test.csv", index=False)
    table[in_test].assign(label=4).to_csv(public / "sample_submission.csv", index=False)
    for part, paths, rows in (("train", train_files, table[~in_test]), ("test", test_files, table[in_test])):
        (public / f"{part}_tfrecords").mkdir()
        (public / f"{part}_images").mkdir()
        for number, path in enumerate(paths):
            count = path.stem.split("-")[1]
            shutil.copy(path, public / f"{part}_tfrecords" / f"ld_{part}{number:02d}-{count}.tfrec")
        for image in rows["image_id"]:
            shutil.copy(raw / "train_images" / image, public / f"{part}_images" / image)
    shutil.copy(raw / "label_num_to_disease_map.json", public)


def grade(submission, private):
    predictions, truth = read(submission), read(private / "test.csv")
    assert len(predictions) == len(truth)
    predictions["label"], predictions["image_id"]
    predictions, truth = (table.sort_values("image_id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["image_id"] == truth["image_id"]).all()
    return accuracy_score(truth["label"], predictions["label"])
