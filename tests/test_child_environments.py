"""No process that mlecore or a plugin starts inherits the user's keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlecore.util.child_environment import PIP, PROXIES, child_environment

ROOT = Path(__file__).parents[1]
SECRETS = {
    "OPENAI_API_KEY": "canary-openai",
    "ANTHROPIC_API_KEY": "canary-anthropic",
    "KAGGLE_KEY": "canary-kaggle",
    "AWS_SECRET_ACCESS_KEY": "canary-aws",
    "HF_TOKEN": "canary-hf",
    "HTTPS_PROXY": "http://user:canary-proxy@proxy.example:3128",
    "PIP_INDEX_URL": "https://user:canary-index@index.example/simple",
    "MY_SECRET": "canary-mine",
}
INSIDE = {
    "plugins/agents/*/*/work": "runs in a sandbox, as the agent or a part of it",
    "plugins/libraries/agents/*/work": "runs in a sandbox, as the agent or a part of it",
    "plugins/libraries/jobs/*/supervise": "starts with PATH and LC_ALL only",
    "plugins/backends/kubernetes/*/program": "runs in a pod",
    "plugins/extensions/verifiers/*/program.py": "runs in the box of a rollout",
    "plugins/*/*/tests": "a test",
}
FORKS = {
    "plugins/libraries/jobs/mlecore_jobs/confining.py": "becomes the first process of a sandbox",
    "mlecore/workers/pool.py": "of a worker that was started with an environment of its own",
}
MAKER = "child_environment"
STARTS = {
    "subprocess": ("run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    "os": ("system", "popen", "fork", "forkpty", "exec", "spawn", "posix_spawn"),
    "asyncio": ("create_subprocess",),
    "pty": ("spawn", "fork"),
}
_STARTED = (name for module in ("os", "asyncio", "pty") for name in STARTS[module])
WORTH_PARSING = re.compile(
    "|".join(("subprocess", "multiprocessing", "ProcessPool", r"\b(os|asyncio|pty) as", *_STARTED))
)


def test_only_what_is_on_the_list_is_passed_on() -> None:
    given = {"PATH": "/bin", "LC_ALL": "C", "OMP_NUM_THREADS": "2", "MLECORE_DATA": "/data", **SECRETS}
    plain = child_environment(source=given)
    assert plain == {
        "PATH": "/bin",
        "LC_ALL": "C",
        "OMP_NUM_THREADS": "2",
        "MLECORE_DATA": "/data",
        "HTTPS_PROXY": "http://proxy.example:3128",
    }
    installer = child_environment(*PIP, *PROXIES, source=given)
    assert {name: installer[name] for name in installer.keys() - plain.keys()} == {
        "PIP_INDEX_URL": SECRETS["PIP_INDEX_URL"]
    }
    assert installer["HTTPS_PROXY"] == SECRETS["HTTPS_PROXY"]


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("http://me:p@ss@proxy:3128", "http://proxy:3128"),
        ("me:pass@proxy:3128", "proxy:3128"),
        ("socks5h://[::1]:9050", "socks5h://[::1]:9050"),
    ],
)
def test_a_proxy_loses_its_password(address: str, left: str) -> None:
    assert child_environment(source={"https_proxy": address}) == {"https_proxy": left}


def test_every_process_is_started_with_an_environment_from_the_list() -> None:
    sources = [path for top in ("mlecore", "plugins") for path in (ROOT / top).rglob("*.py")]
    inside = {folder for pattern in INSIDE for folder in ROOT.glob(pattern)}
    checked = [path for path in sources if inside.isdisjoint((path, *path.parents))]
    assert len(checked) > 300
    wrong = [f"{path.relative_to(ROOT)}:{line}" for path in checked for line in _inheriting(path)]
    assert wrong == [], "pass env=child_environment(...)"


def _inheriting(path: Path) -> Iterator[int]:
    """Lines that start a process which inherits this one's environment."""
    if str(path).removeprefix(f"{ROOT}/") in FORKS:
        return
    text = path.read_text(encoding="utf-8")
    if not WORTH_PARSING.search(text):
        return
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    makers = {MAKER} | {each.name for each in functions if _calls(each, {MAKER}) and "environment" in each.name}
    clean = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _calls(node.value, makers)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            if node.module in STARTS or "ProcessPoolExecutor" in names or "multiprocessing" in str(node.module):
                if node.module in ("os", "asyncio") and not any(_starts(str(node.module), name) for name in names):
                    continue
                yield node.lineno
        elif isinstance(node, ast.Import):
            if any("multiprocessing" in alias.name or (alias.name in STARTS and alias.asname) for alias in node.names):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and _starts(owner.id, node.func.attr):
                given = next((word.value for word in node.keywords if word.arg == "env"), None)
                named = isinstance(given, ast.Name) and given.id in clean
                if given is None or not (named or _calls(given, makers)):
                    yield node.lineno


def _starts(module: str, name: str) -> bool:
    whole = module == "subprocess"
    return any(name == start if whole else name.startswith(start) for start in STARTS.get(module, ()))


def _calls(tree: ast.AST, names: set[str]) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in names for called in calls)
