"""Synthetic data in the form of the download."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_smartphone_decimeter_2022 import COORDINATES, SOMEWHERE, TIME, TRIP, TRUTH
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv, write_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

PHONES = ["GooglePixel4", "GooglePixel10", "XiaomiMi8", "SamsungS20Ultra"]  # 10 comes before 4 in text
SECONDS = 25  # of a drive
DEGREE = 111_000  # metres of latitude
RECEIVER = 6_371_000.0  # metres from the centre of the Earth


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """30 dates times ``size``, every third with two drives, each with one to three phones on board."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    for number in range(max(20, round(30 * size))):
        day = date(2020, 1, 3) + timedelta(days=9 * number)
        if number % 2:
            names = [f"{day}-US-MTV-1", f"{day}-US-MTV-11"]  # one is the other and a digit
        else:
            names = [f"{day.year}-{day.month}-{day.day}-20-28-us-ca-lax-c", f"{day}-us-ca-sjc-r"]
        for name in names[: 1 + (number % 3 == 0)]:
            _drive(raw / "train" / name, rng, whole=number % 4 == 1)
    _drive(raw / "test" / "2022-10-06-20-46-us-ca-sjc-r", rng, whole=False)
    for path in (raw / "test").rglob(TRUTH):
        path.unlink()
    (raw / "train" / "readme.txt").write_bytes(b"A drive is a folder.\n")
    sample = pd.DataFrame({TRIP: ["2022-10-06-20-46-us-ca-sjc-r/GooglePixel4"], TIME: [1665089188000], **SOMEWHERE})
    write_csv(sample, raw / "sample_submission.csv")
    write_json({"STATE_CODE_LOCK": 1}, raw / "metadata" / "raw_state_bit_map.json")
    write_json({"ADR_STATE_VALID": 1}, raw / "metadata" / "accumulated_delta_range_state_bit_map.json")
    kinds = pd.DataFrame({"constellationType": [1, 3, 6], "constellationName": ["GPS", "GLONASS", "GALILEO"]})
    write_csv(kinds, raw / "metadata" / "constellation_type_mapping.csv")


def _drive(folder: Path, rng: RandomState, *, whole: bool) -> None:
    """All phones are at one place at one time; that of the first one is a whole number of degrees if ``whole``."""
    import numpy as np
    import pandas as pd

    speed, start = 1e-4 * rng.normal(size=2), [37.4, -122.1] + 0.2 * rng.normal(size=2)
    track = start + np.arange(SECONDS)[:, None] * speed + 1e-6 * rng.normal(size=(SECONDS, 2))
    begin = 1_589_494_486_000 + 1000 * int(rng.randint(10**7))
    phones = [PHONES[place] for place in rng.permutation(len(PHONES))[: 1 + rng.randint(3)]]
    for number, phone in enumerate(phones):
        times = begin + 1000 * np.arange(SECONDS, dtype=np.int64) + rng.randint(900)
        places = np.full_like(track, [37, -122]) if whole and number == 0 else track
        target = folder / phone
        _write_signals(target, times, places, rng)
        if number == 2:  # this one has no reference track
            continue
        table = pd.DataFrame({"MessageType": "Fix", "Provider": "GT"}, index=range(SECONDS))
        for place, name in enumerate(COORDINATES):
            table[name] = places[:, place].astype(int) if whole and number == 0 else places[:, place]
        table["AltitudeMeters"], table["SpeedMps"] = 30.5, DEGREE * float(np.abs(speed).sum())
        write_csv(table.assign(AccuracyMeters=0.1, BearingDegrees=90.0, **{TIME: times}), target / TRUTH)


def _write_signals(folder: Path, times: NDArray[np.int64], track: NDArray[np.float64], rng: RandomState) -> None:
    """What the phone recorded: a rough position each second stands in the table of satellite signals."""
    import numpy as np
    import pandas as pd

    lat, lng = np.radians(track + 3e-5 * rng.normal(size=track.shape)).T
    around = {"X": np.cos(lat) * np.cos(lng), "Y": np.cos(lat) * np.sin(lng), "Z": np.sin(lat)}
    signals = pd.DataFrame({"MessageType": "Raw", "utcTimeMillis": times, "Svid": rng.randint(1, 33, len(times))})
    signals["Cn0DbHz"] = rng.uniform(20, 45, len(times)).round(1)
    for axis, values in around.items():
        signals[f"WlsPosition{axis}EcefMeters"] = RECEIVER * values
    write_csv(signals, folder / "device_gnss.csv")
    moves = pd.DataFrame({"MessageType": "UncalAccel", "utcTimeMillis": times})
    for axis in "XYZ":
        moves[f"Measurement{axis}"] = rng.normal(size=len(times)).round(5)
    write_csv(moves, folder / "device_imu.csv")
    (folder / "supplemental").mkdir()
    (folder / "supplemental" / "gnss_log.txt").write_bytes(b"# Raw,utcTimeMillis,TimeNanos\n")
    (folder / "supplemental" / "gnss_rinex.20o").write_bytes(b"     3.03           OBSERVATION DATA\n")
    log = "".join(_sentence(second, *place) for second, place in enumerate(track.tolist()))
    (folder / "supplemental" / "span_log.nmea").write_bytes(log.encode())


def _sentence(second: int, latitude: float, longitude: float) -> str:
    """A place as the reference receiver logs it: degrees and minutes."""
    north, east = f"{_minutes(latitude, 2)},{'NS'[latitude < 0]}", f"{_minutes(longitude, 3)},{'EW'[longitude < 0]}"
    return f"$GPGGA,0000{second:02d}.00,{north},{east},4,12,0.8,30.5,M,-30.0,M,,\r\n"


def _minutes(angle: float, digits: int) -> str:
    degrees, rest = divmod(abs(angle), 1)
    return f"{int(degrees):0{digits}d}{60 * rest:011.8f}"
