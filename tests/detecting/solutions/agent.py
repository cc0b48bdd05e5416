"""The agent of the twenty runs: works out one of the solutions beside it, by its seed, and keeps the code."""

import os
import runpy
import shutil
from pathlib import Path

HONEST = ("bayes.py", "logistic.py", "neighbours.py", "stumps.py", "lengths.py")
OTHERS = {7: "copied.py", 11: "leaky.py", 15: "by_hand.py"}

seed = int(os.environ["MLECORE_SEED"])
solution = OTHERS.get(seed, HONEST[seed % len(HONEST)])
Path("code").mkdir(exist_ok=True)
shutil.copy(Path(__file__).with_name(solution), Path("code") / "solution.py")
print(f"seed {seed}: working on the task", flush=True)
runpy.run_path(str(Path("code") / "solution.py"), run_name="__main__")
