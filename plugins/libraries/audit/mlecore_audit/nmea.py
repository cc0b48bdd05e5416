"""Logs of satellite receivers (NMEA 0183) as tables of positions: sentences GGA and RMC."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FIRST = {"GGA": 2, "GNS": 2, "RMC": 3, "GLL": 1}  # where the latitude is; its hemisphere, longitude and that's follow
_ANGLE = re.compile(r"(\d+)(\d\d\.?\d*)")  # degrees, then minutes with two digits before the point


def is_nmea(head: bytes) -> bool:
    return re.match(rb"\$[A-Z]{5},", head.lstrip()) is not None


def positions(lines: Iterable[bytes]) -> list[dict[str, str]]:
    """Latitude and longitude in degrees of each sentence that has them, in the order of the file."""
    found = []
    for line in lines:
        fields = line.decode("ascii", "replace").strip().split(",")
        at = _FIRST.get(fields[0][-3:])
        if at is None or len(fields) < at + 4:
            continue
        latitude, longitude = _degrees(*fields[at : at + 2]), _degrees(*fields[at + 2 : at + 4])
        if latitude is not None and longitude is not None:
            found.append({"latitude": repr(latitude), "longitude": repr(longitude)})
    return found


def _degrees(angle: str, hemisphere: str) -> float | None:
    parts = _ANGLE.fullmatch(angle)
    if parts is None:
        return None
    degrees = int(parts[1]) + float(parts[2]) / 60
    return round(-degrees if hemisphere in ("S", "W") else degrees, 10)
