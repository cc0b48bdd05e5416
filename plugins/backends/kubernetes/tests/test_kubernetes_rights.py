"""An account that has the rights of docs/kubernetes.md, and no others, runs a whole group."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from mle_backend_kubernetes.names import ROLE

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes-2")]

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


def test_an_account_with_the_documented_role_runs_a_whole_group(
    lab: Lab, limited: Path, command: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "agent.sh").write_text("cp /opt/mlecore/sample.csv submission/submission.csv; echo made it\n")
    command("prepare", "optical-digits")
    agent = ["--agent", "command", "-A", "argv=sh agent.sh", "--competition", "optical-digits", "--seeds", "2"]
    command("run", *agent, "--group", "g", "--time-limit", "5m", KUBECONFIG=str(limited))
    records = [json.loads(path.read_bytes()) for path in sorted(tmp_path.glob("runs/g/*/run.json"))]
    assert [each["state"] for each in records] == ["graded", "graded"]
    assert [len(each["attempts"]) for each in records] == [1, 1]
    lab.emptied(f"{ROLE},{ROLE} notin (data)")  # the data's claim stays, for the next group
