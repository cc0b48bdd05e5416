"""The program for hosts is complete by itself, and no part of it asks for more than Python 3.9."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from mle_backend_ssh import bundle

_NEW = {  # module -> names that Python 3.9 lacks
    "itertools": {"pairwise", "batched"},
    "enum": {"StrEnum"},
    "datetime": {"UTC"},
    "typing": {"Self", "ParamSpec", "TypeAlias", "assert_never", "override", "Unpack", "NotRequired"},
    "types": {"UnionType", "NoneType", "EllipsisType"},
    "dataclasses": {"KW_ONLY"},
    "contextlib": {"chdir", "aclosing"},
    "asyncio": {"timeout", "TaskGroup", "Runner"},
    "hashlib": {"file_digest"},
}
_LOADED = sorted(
    name for name in bundle.contents() if name.startswith(("mlecore/", "mlecore_jobs/", "mlecore_sandboxes/"))
)


@pytest.mark.parametrize("name", _LOADED)
def test_each_module_is_python_3_9(name: str) -> None:
    tree = ast.parse(bundle.contents()[name], feature_version=(3, 9))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert not {alias.name for alias in node.names} & _NEW.get(node.module or "", set())
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.attr not in _NEW.get(node.value.id, set())
        if isinstance(node, ast.Call):
            assert not any(key.arg == "strict" for key in node.keywords if getattr(node.func, "id", "") == "zip")
        if isinstance(node, ast.Assign):  # evaluated when imported, unlike annotations
            types = [each for each in ast.walk(node.value) if isinstance(each, ast.BinOp)]
            assert not [each for each in types if isinstance(each.op, ast.BitOr) and _is_none(each.right)]


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def test_it_imports_nothing_that_it_does_not_bring(tmp_path: Path) -> None:
    for name, content in bundle.contents().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "import mle_backend_ssh.remote.serve, mlecore_jobs.relay, packaging.specifiers; "
        "print(*{m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)}, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "site-packages" not in done.stdout
    assert str(tmp_path / "mlecore_sandboxes" / "machine.py") in done.stdout.split("\n")


def test_the_same_files_make_the_same_archive() -> None:
    digest, packed = bundle.archive()
    bundle.archive.cache_clear()
    assert bundle.archive() == (digest, packed)
    assert len(packed) < 1_000_000
