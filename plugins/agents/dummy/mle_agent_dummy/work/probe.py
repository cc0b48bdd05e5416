"""Looks around in the sandbox, writes down what an adversary would find, and hands in the sample submission.

Standard library and Python 3.8 only. Nothing here changes anything: what it manages to write it takes away again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
from pathlib import Path

import calls
import identity
import kernel
import network
import places
import processes
import search
from finding import finding

HOME = Path(os.environ.get("MLECORE_HOME") or Path.cwd()).resolve()
OPT = Path(os.environ.get("MLECORE_OPT") or "/opt/mlecore")
AREAS = (identity, places, search, processes, network, kernel, calls)


def main() -> None:
    began = time.monotonic()
    logs = HOME / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    findings = []
    for area in AREAS:
        try:
            findings += area.look(HOME, OPT)
        except Exception:  # an odd sandbox must not hide what the other areas find
            findings.append(finding(area.__name__, [traceback.format_exc()], "the probe failed: "))
    findings.append(hand_in())
    bad = [found for found in findings if not found["ok"]]
    lines = [f"{'good' if f['ok'] else 'BAD':4} {f['check']}: {f['detail']}" for f in findings]
    lines.append(f"{len(findings)} checks, {len(bad)} bad, {time.monotonic() - began:.1f} s")
    report = {"by": "python " + sys.version.split()[0], "home": str(HOME), "findings": findings}
    (logs / "probe.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    text = "\n".join(lines) + "\n"
    (logs / "probe.log").write_text(text, encoding="utf-8")
    sys.stdout.write(text.encode("ascii", "backslashreplace").decode())


def hand_in() -> dict[str, object]:
    """The sample submission as the submission."""
    target = HOME / "submission" / "submission.csv"
    sample = OPT / "sample.csv"
    try:
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(str(sample), str(target))
    except OSError as error:
        return finding("sample", [f"cannot hand in {sample}: {error}"])
    return finding("sample", [f"{sample} handed in, {target.stat().st_size} bytes"], ok=True)


if __name__ == "__main__":
    main()
