"""Only values of the backends' contract are sent to another machine, and created from what arrives from one."""

from __future__ import annotations

import pytest

from mlecore_sandboxes import packing


def test_only_values_of_the_contract_are_made() -> None:
    with pytest.raises(TypeError, match="Popen"):
        packing.pack(type("Popen", (), {})())
    with pytest.raises(KeyError):
        packing.unpack({"is": "Popen", "has": {"args": "id"}})
