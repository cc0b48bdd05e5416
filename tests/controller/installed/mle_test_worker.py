"""Agent `worker`: tells the tests' backend, by its environment, what a process would do."""

import json

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Task
from mlecore.model.options import Option


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="does what its options say",
        options=(
            Option(name="seconds", help="how long it works", type="number", default="0"),
            Option(name="code", help="its exit code", type="integer", default="0"),
            Option(
                name="faults",
                help="so many first attempts end by an infrastructure failure",
                type="integer",
                default="0",
            ),
            Option(name="submission", help="what it hands in", default="good", choices=("good", "bad", "none")),
            Option(name="oom", help="it runs out of memory", type="boolean", default="false"),
            Option(name="outcome", help="what it reports of its end", default=""),
            Option(name="timed_out", help="it runs out of time", type="boolean", default="false"),
        ),
    )


@hookimpl
def launch(task: Task) -> Launch:
    files = {"logs/work.log": f"seed {task.seed}\n", "code/main.py": "print('hello')\n"}
    if task.options["outcome"]:
        files["logs/outcome"] = task.options["outcome"]
    rows = "".join(f"{n},{(n + task.seed) % 2}\n" for n in range(10))
    if task.options["submission"] != "none":
        files["submission/submission.csv"] = "id,side\n" + (rows if task.options["submission"] == "good" else "1,2\n")
    return Launch(argv=("work",), env={"WORK": json.dumps({**task.options, "files": files})})
