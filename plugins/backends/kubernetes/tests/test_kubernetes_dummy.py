"""Agent dummy, which explores its sandbox as an adversary would, finds nothing in a pod.

Its runs are started by an account that has the rights of docs/kubernetes.md, and no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from mle_backend_kubernetes.names import ROLE

if TYPE_CHECKING:
    from mle_backend_kubernetes.network import Probe

    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes")]

MODEL = ("--model", "m", "--endpoint", "https://model.example.com", "-A", "network=llm")


PAGE = Path(__file__).parents[4] / "docs" / "kubernetes.md"


def documented_role() -> dict[str, Any]:
    """The Role, as the page has it."""
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    role: dict[str, Any] = yaml.safe_load(text)
    assert role["kind"] == "Role"
    return role


@pytest.fixture
def limited(lab: Lab, tmp_path: Path) -> Path:
    """A kubeconfig of an account that has only this Role."""
    cluster, name = lab.cluster, "limited"
    space = f"namespaces/{cluster.namespace}"
    rights = f"/apis/rbac.authorization.k8s.io/v1/{space}"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    cluster.create(cluster.path("serviceaccounts"), account)
    role = documented_role()
    cluster.create(f"{rights}/roles", role)
    subject = {"kind": "ServiceAccount", "name": name, "namespace": cluster.namespace}
    reference = {"kind": "Role", "name": role["metadata"]["name"], "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"apiVersion": role["apiVersion"], "kind": "RoleBinding", "metadata": {"name": name}}
    cluster.create(f"{rights}/rolebindings", {**binding, "roleRef": reference, "subjects": [subject]})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token = cluster.create(cluster.path("serviceaccounts", name, "token"), request)["status"]["token"]
    config = cluster.configuration
    here = {"server": config.host, "certificate-authority": config.ssl_ca_cert}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": here}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": "here", "user": name, "namespace": cluster.namespace}}],
        "current-context": name,
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(content))
    return path


def test_dummy_finds_nothing_under_an_account_with_the_documented_rights_alone(
    lab: Lab, limited: Path, probe: Probe, command: Callable[..., str], tmp_path: Path
) -> None:
    enforced = bool(probe.known)
    command("prepare", "optical-digits")

    def findings(group: str, *words: str) -> list[dict[str, Any]]:
        dummy = ["--agent", "dummy", *words, "--competition", "optical-digits", "--time-limit", "15m", "--group", group]
        command("run", *dummy, KUBECONFIG=str(limited))
        (run,) = (tmp_path / "runs" / group).glob("*/run.json")
        record = json.loads(run.read_bytes())
        sandbox = record["sandbox"]
        assert (record["state"], len(record["attempts"])) == ("graded", 1)
        assert record["installed"][0].startswith("CPython 3.")
        level = "enforced" if enforced else "absent"
        assert (sandbox["network"]["level"], sandbox["network_verified"]) == (level, enforced)
        found: list[dict[str, Any]] = json.loads((run.parent / "logs/probe.json").read_text())["findings"]
        return found

    with ThreadPoolExecutor() as pool:
        results = [pool.submit(findings, "none"), pool.submit(findings, "llm", *MODEL)]
    for result in results:
        bad = [each for each in result.result() if not each["ok"]]
        assert len(result.result()) > 30
        assert bad == [] if enforced else all(each["check"].startswith("network_") for each in bad)
    lab.emptied(f"{ROLE},{ROLE} notin (data)")  # the data's claim stays, for the next group
