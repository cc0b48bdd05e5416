"""How fast `mlecore view` opens many runs (at once, again, after some changed) and a log of 500 MiB.

python benchmarks/view.py [--runs 10000] [--groups 4]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from mlecore_testing import drawn_groups


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--groups", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        for number in range(options.groups):
            seeds = max(1, options.runs // options.groups // 75)
            drawn_groups.write_group(runs, f"group-{number}", skill=number / options.groups, seeds=seeds)
        measure(runs)


def measure(runs: Path) -> None:
    from mle_ext_view.app import make_app
    from starlette.testclient import TestClient

    client = TestClient(make_app(runs, "token"), base_url="http://127.0.0.1")

    def get(name: str, address: str) -> str:
        began, used = time.perf_counter(), time.process_time()
        answer = client.get(f"/token/{address}")
        seconds, cpu = time.perf_counter() - began, time.process_time() - used
        assert answer.status_code == 200, answer.text
        print(
            f"{name:40} {1000 * seconds:6.0f} ms, {1000 * cpu:5.0f} ms of CPU {len(answer.content) / 1000:8.0f} kB",
            flush=True,
        )
        return answer.text

    total = sum(1 for _ in runs.glob("*/*/run.json"))
    print(f"{total} runs in {len(list(runs.iterdir()))} groups")
    began, looks = time.perf_counter(), 1
    page = get("the groups, at once", "index.html")
    while "not read yet" in page:
        page, looks = client.get("/token/index.html").text, looks + 1
    print(f"{'until every run was read':40} {1000 * (time.perf_counter() - began):6.0f} ms in {looks} looks")
    get("the groups again", "index.html")
    get("one group", "g/group-0/index.html")
    get("one group again", "g/group-0/index.html")
    for path in sorted(runs.glob("group-0/*/run.json"))[:100]:
        path.touch()
    get("one group, after 100 runs changed", "g/group-0/index.html")
    run = min(path.parent.name for path in runs.glob("group-0/*/run.json"))
    get("one run", f"g/group-0/{run}/index.html")
    log = runs / "group-0" / run / "logs" / "output.log"
    log.parent.mkdir()
    with log.open("wb") as file:
        for _ in range(500):
            file.write((b"a line of output that says nothing\n" * 30_000)[: 1 << 20])
    get("a log of 500 MiB, its end", f"g/group-0/{run}/log.html")
    get("its middle", f"g/group-0/{run}/log.html?from={250 << 20}")
    get("a search that finds nothing in it", f"g/group-0/{run}/log.html?q=needle")


if __name__ == "__main__":
    sys.exit(main())
