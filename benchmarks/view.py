"""How fast `mlecore view` opens many runs: the first look, a refresh, and a refresh after some runs changed.

python benchmarks/view.py [--runs 10000] [--groups 4]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def drawn_groups():
    """tests/reports/groups.py."""
    spec = importlib.util.spec_from_file_location("groups", ROOT / "tests" / "reports" / "groups.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--groups", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        groups = drawn_groups()
        for number in range(options.groups):
            seeds = max(1, options.runs // options.groups // 75)
            groups.write_group(runs, f"group-{number}", skill=number / options.groups, seeds=seeds)
        measure(runs)


def measure(runs: Path) -> None:
    from mle_ext_view.app import make_app
    from starlette.testclient import TestClient

    client = TestClient(make_app(runs, "token"), base_url="http://127.0.0.1")

    def get(name: str, address: str) -> str:
        began = time.perf_counter()
        answer = client.get(f"/token/{address}")
        seconds = time.perf_counter() - began
        assert answer.status_code == 200, answer.text
        print(f"{name:40} {1000 * seconds:6.0f} ms {len(answer.content) / 1000:8.0f} kB", flush=True)
        return answer.text

    total = sum(1 for _ in runs.glob("*/*/run.json"))
    print(f"{total} runs in {len(list(runs.iterdir()))} groups")
    get("the groups, at once", "index.html")
    looks = 1
    while "not read yet" in get(f"the groups, look {looks + 1}", "index.html"):
        looks += 1
    get("the groups again", "index.html")
    get("one group", "g/group-0/index.html")
    get("one group again", "g/group-0/index.html")
    for path in sorted(runs.glob("group-0/*/run.json"))[:100]:
        path.touch()
    get("one group, after 100 runs changed", "g/group-0/index.html")
    run = min(path.parent.name for path in runs.glob("group-0/*/run.json"))
    get("one run", f"g/group-0/{run}/index.html")


if __name__ == "__main__":
    sys.exit(main())
