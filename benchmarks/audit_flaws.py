"""Does `mlecore audit` name the known answers and leaks of edition v1, and find none in v2? On synthetic data.

    python benchmarks/audit_flaws.py                                every competition and edition, one at a time
    python benchmarks/audit_flaws.py spaceship-titanic --json FILE  with all findings, a line of JSON for each edition

"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import mlecore
from mlecore.data.prepared import Prepared
from mlecore.data.scatter import scatter_links
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject

CHECKS = ("answers", "tells", "twins", "groups", "labels")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--size", type=float, default=1.0)
    parser.add_argument("--checks", nargs="+", default=CHECKS)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    for id in args.ids:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            t0 = time.process_time()
            v1 = mlecore.competition(id)
            v1.make_raw(root / "raw", size=args.size)
            for edition in ("v1", *v1.facts.editions):
                rec: dict[str, Any] = {"id": id, "edition": edition}
                try:
                    c = mlecore.competition(id, edition)
                    c.prepare(root / "raw", root / edition / "public", root / edition / "private")
                    scatter_links(root / edition / "public")
                    t1 = time.process_time()
                    subject = Subject(c, Prepared(competition=id, edition=edition, synthetic=True, root=root / edition))
                    found, times = [], {}
                    for check in args.checks:
                        t = time.process_time()
                        found += [f.to_json() for f in findings(subject, check)]
                        times[check] = round(time.process_time() - t, 2)
                    rec |= dict(prepare=t1 - t0, times=times, findings=found, unexamined=subject.unexamined)
                except Exception as error:
                    rec["error"] = repr(error)
                with args.json.open("a") as f:
                    f.write(json.dumps(rec) + "\n")
                print(id, edition, rec.get("error"), round(rec.get("prepare", 0), 1), rec.get("times"), flush=True)
                t0 = time.process_time()


if __name__ == "__main__":
    main()
