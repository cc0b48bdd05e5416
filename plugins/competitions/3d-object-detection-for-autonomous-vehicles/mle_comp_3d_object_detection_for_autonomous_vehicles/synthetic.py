"""Synthetic data in the form of the download."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mle_comp_3d_object_detection_for_autonomous_vehicles import MAP
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv, write_json

if TYPE_CHECKING:
    from numpy.random import RandomState

SIZES = {  # width, length, height
    "car": (1.9, 4.6, 1.7),
    "pedestrian": (0.7, 0.8, 1.75),
    "bus": (2.9, 12.0, 3.4),
    "bicycle": (0.6, 1.8, 1.4),
}
CAMERAS = ("CAM_FRONT", "CAM_BACK")
HOST = "host-a011"
TABLES = ("log", "scene", "sample", "sample_data", "ego_pose", "calibrated_sensor", "sample_annotation", "instance")


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Points of the lidar lie within the objects, and their intensity tells the class."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    scenes = max(6, round(20 * size))
    tokens = iter(hex_ids(scenes * 400, 64, seed=seed))
    world = _World(rng, tokens)
    for folder in ("train_data", "train_images", "train_lidar", "train_maps"):
        (raw / folder).mkdir()
    for number in range(scenes):
        world.add_scene(raw, number)
    tables = world.tables
    tables["map"] = [
        {
            "log_tokens": [log["token"] for log in tables["log"]],
            "category": "semantic_prior",
            "filename": f"maps/{MAP}",
            "token": next(tokens),
        }
    ]
    tables["attribute"] = [{"description": "Object is parked", "token": next(tokens), "name": "is_parked"}]
    tables["category"] = [{"description": name, "token": world.categories[name], "name": name} for name in SIZES]
    tables["sensor"] = [{"modality": "camera", "channel": name, "token": next(tokens)} for name in CAMERAS]
    tables["visibility"] = [{"description": "visibility between 80 and 100%", "token": "4", "level": "v80-100"}]
    for name in ("calibrated_sensor", "ego_pose"):  # in another order than their use
        tables[name] = [tables[name][place] for place in rng.permutation(len(tables[name]))]
    for name, records in tables.items():
        write_json(records, raw / "train_data" / f"{name}.json")
    rows = pd.DataFrame(world.rows, columns=["Id", "PredictionString"])
    write_csv(rows.iloc[rng.permutation(len(rows))], raw / "train.csv")
    (raw / "train_maps" / MAP).write_bytes(encode(picture(rng, 3), "PNG"))
    (raw / "train_images" / f"{HOST}_cam9_1.jpeg").write_bytes(b"")  # no record names it
    write_csv(rows.iloc[:2].assign(Id=[next(tokens), next(tokens)], PredictionString=""), raw / "sample_submission.csv")
    (raw / "test_data").mkdir()  # Kaggle's own test set
    write_json([], raw / "test_data" / "log.json")


class _World:
    """Tables of records that grow scene by scene."""

    def __init__(self, rng: RandomState, tokens: Any) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        self.rows: list[tuple[str, str]] = []
        self.rng, self.tokens = rng, tokens
        self.categories = {name: next(tokens) for name in SIZES}
        self.shared = next(tokens)  # a sensor of every scene
        self._sensor(self.shared)
        self.clock = 1557858039302414.8

    def _sensor(self, token: str) -> None:
        mount = {"rotation": [1.0, 0.0, 0.0, 0.0], "camera_intrinsic": [], "translation": [0.0, 0.0, 1.8]}
        self.tables["calibrated_sensor"].append({"sensor_token": next(self.tokens), "token": token, **mount})

    def add_scene(self, raw: Path, number: int) -> None:
        token, own = next(self.tokens), next(self.tokens)  # a scene has the token of its log
        self._sensor(own)
        log = {"date_captured": "2019-05-14", "location": "Palo Alto", "token": token, "vehicle": "a011"}
        self.tables["log"].append({**log, "logfile": "", "map_token": "", "note": "café" if number == 0 else ""})
        samples = [next(self.tokens) for _ in range(self.rng.randint(2, 6))]
        scene = {"log_token": token, "first_sample_token": samples[0], "nbr_samples": len(samples), "token": token}
        self.tables["scene"].append({**scene, "name": f"{HOST}-{number}", "description": ""})
        kinds = [list(SIZES)[self.rng.randint(len(SIZES))] for _ in range(self.rng.randint(2, 7))]
        instances = {next(self.tokens): kind for kind in kinds}
        for instance, kind in instances.items():
            self.tables["instance"].append({"token": instance, "category_token": self.categories[kind]})
        for sample in samples:
            self.clock += 200000.5
            self.tables["sample"].append({"timestamp": self.clock, "token": sample, "scene_token": token, "data": {}})
            self._add_sample(raw, sample, instances, own)

    def _add_sample(self, raw: Path, sample: str, instances: dict[str, str], sensor: str) -> None:
        import numpy as np

        here, texts, clouds = self.rng.uniform((500, 800, -25), (2800, 3000, -15)), [], []
        for instance, kind in instances.items():
            centre = here + self.rng.uniform((-40, -40, -1), (40, 40, 1))
            size = np.array(SIZES[kind]) * self.rng.uniform(0.9, 1.1, 3)
            yaw = self.rng.uniform(-math.pi, math.pi)
            texts.append(" ".join(map(repr, [*centre.tolist(), *size.tolist(), yaw])) + f" {kind}")
            place = {"translation": centre.tolist(), "size": size.tolist()}
            turn = [math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)]
            record = {"token": next(self.tokens), "sample_token": sample, "instance_token": instance, **place}
            self.tables["sample_annotation"].append({**record, "rotation": turn, "visibility_token": ""})
            intensity = 20.0 + 60 * list(SIZES).index(kind)
            inside = self.rng.uniform(-0.5, 0.5, (30, 3)) * size[[1, 0, 2]]
            c, s = math.cos(yaw), math.sin(yaw)
            turned = inside @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
            clouds.append(np.c_[turned + centre - here, np.full(30, intensity), np.zeros(30)])
        self.rows.append((sample, " ".join(texts)))
        cloud = np.concatenate(clouds).astype("<f4").tobytes()
        self._add_file(raw, sample, sensor, here, "lidar", "bin", f"{HOST}_lidar1", cloud)
        for camera in range(len(CAMERAS)):
            jpeg = encode(picture(self.rng, len(instances)), "JPEG")
            self._add_file(raw, sample, self.shared, here, "images", "jpeg", f"{HOST}_cam{camera}", jpeg)
        if self.rng.rand() < 0.2:  # the file of a record may be that of another
            self.tables["sample_data"].append({**self.tables["sample_data"][-1], "token": next(self.tokens)})

    def _add_file(
        self, raw: Path, sample: str, sensor: str, here: Any, folder: str, kind: str, stem: str, data: bytes
    ) -> None:
        pose, name = next(self.tokens), f"{stem}_{int(self.clock)}.{kind}"
        where = {"rotation": [1.0, 0.0, 0.0, 0.0], "translation": here.tolist(), "timestamp": self.clock}
        self.tables["ego_pose"].append({"token": pose, **where})
        keys = {"sample_token": sample, "ego_pose_token": pose, "calibrated_sensor_token": sensor}
        record = {"token": next(self.tokens), **keys, "filename": f"{folder}/{name}", "fileformat": kind}
        self.tables["sample_data"].append({**record, "is_key_frame": True, "timestamp": self.clock})
        (raw / f"train_{folder}" / name).write_bytes(data)
