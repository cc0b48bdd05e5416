"""Options, and the patch of the pod template."""

from __future__ import annotations

import pytest
from mle_backend_kubernetes.manifests import merged
from mle_backend_kubernetes.settings import Settings

from mlecore.errors import UsageError


def test_taints_are_written_as_kubectl_writes_them_or_as_tables() -> None:
    exists = {"key": "a", "operator": "Exists"}
    assert Settings.of({"tolerations": "a, b=c:NoSchedule"}).tolerations == (
        exists,
        {"key": "b", "operator": "Equal", "value": "c", "effect": "NoSchedule"},
    )
    assert Settings.of({"tolerations": '[{"key": "a", "operator": "Exists"}]'}).tolerations == (exists,)


def test_tables_and_pairs_are_read_alike() -> None:
    assert Settings.of({"node-selector": "gpu=h200,zone=a"}).node_selector == {"gpu": "h200", "zone": "a"}
    assert Settings.of({"node-selector": '{"gpu": "h200"}'}).node_selector == {"gpu": "h200"}


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("user", "0", "root"),
        ("user", "me", "UID"),
        ("shm", "much", "size"),
        ("keep", "long", "duration"),
        ("pod-template", "[]", "table"),
        ("pod-template", "{", "pod-template"),
        ("tolerations", "[", "tolerations"),
        ("node-selector", "gpu", "name=value"),
        ("registry", "https://example.com", "scheme"),
    ],
)
def test_what_cannot_be_is_refused_with_the_option_s_name(name: str, value: str, word: str) -> None:
    with pytest.raises(UsageError, match=word) as raised:
        Settings.of({name: value})
    assert name in str(raised.value)


def test_a_patch_merges_tables_and_named_lists_and_replaces_others() -> None:
    base = {"containers": [{"name": "agent", "image": "a", "args": ["x"]}], "keep": 1, "drop": 2}
    change = {"containers": [{"name": "agent", "args": ["y"]}, {"name": "more"}], "drop": None, "new": {"a": 1}}
    assert merged(base, change) == {
        "containers": [{"name": "agent", "image": "a", "args": ["y"]}, {"name": "more"}],
        "keep": 1,
        "new": {"a": 1},
    }
