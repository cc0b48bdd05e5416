"""Rule: the sandbox's validate, which agents may use, never contradicts check and grade."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType

from mlecore_jobs import INSIDE
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken

_FILE = INSIDE / "validate"
_WELL_FORMED, _ILL_FORMED, _UNDECIDED = 0, 1, 3


def validate(harness: Harness) -> Iterator[Broken]:
    program = _laid_out(harness)
    path = program.HERE / "submission.csv"
    for verdict in harness.verdicts:
        path.write_bytes(verdict.mutant.data)
        with redirect_stdout(io.StringIO()) as said:
            code = program.main([str(path)])
        last = said.getvalue().strip().rpartition("\n")[2].replace(str(path), path.name)
        if code == _ILL_FORMED and verdict.grade.accepted:
            yield Broken(f"grade accepts it, validate says: {last}", verdict.mutant.name)
        elif code == _WELL_FORMED and verdict.check.refusal is not None:
            yield Broken(f"validate says well-formed, check refuses it: {verdict.check.refusal}", verdict.mutant.name)
        elif code not in (_WELL_FORMED, _ILL_FORMED, _UNDECIDED):
            yield Broken(f"validate ends with {code}: {last}", verdict.mutant.name)


def _laid_out(harness: Harness) -> ModuleType:
    """The program of the sandbox, imported: hundreds of processes would take long."""
    folder = harness.tools()
    shutil.copyfile(_FILE, folder / "validate")
    loader = SourceFileLoader(f"mlecore_validate_{id(harness)}", str(folder / "validate"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    module.HERE = folder  # type: ignore[attr-defined]
    module.csv.field_size_limit(2**31 - 1)
    return module
