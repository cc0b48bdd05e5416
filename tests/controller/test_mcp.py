"""MCP servers that the plan names: reached from a sandbox through its relay, in record and report, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import mle_agent_claude_code
import mle_agent_codex
import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_report.conditions import conditions

from mlecore.cli import main
from mlecore.controller.instructions import instructions_for
from mlecore.errors import UsageError
from mlecore.model.agents import McpServer
from mlecore.model.plan import Plan
from mlecore.plugins.loading import load
from mlecore.runs.planning import make_plan, parse_plan, write_plan
from mlecore_testing import scripted_run
from mlecore_testing.agents.harness import AgentBench
from mlecore_testing.http_server import Handler, serving
from mlecore_testing.models import Answer

SECRET = "Bearer lab-secret-4711"


class Tools(Handler):
    """A server of the Model Context Protocol over Streamable HTTP, with one tool, for those who have the token."""

    protocol_version = "HTTP/1.1"
    asked: list[str]

    def do_POST(self) -> None:  # noqa: N802
        asked = json.loads(self.body())
        if self.headers.get("Authorization") != SECRET:
            self.answer(401)
            return
        self.asked.append(asked["method"])
        if "id" not in asked:
            self.answer(202)
            return
        result = {"jsonrpc": "2.0", "id": asked["id"], "result": self._result(asked)}
        event = f"event: message\ndata: {json.dumps(result)}\n\n"
        self.answer(200, event.encode(), {"Content-Type": "text/event-stream"})

    def _result(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["method"] == "initialize":
            version = asked["params"]["protocolVersion"]
            info = {"name": "lab", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        if asked["method"] == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
            return {"tools": [{"name": "shout", "description": "Shout.", "inputSchema": schema}]}
        return {"content": [{"type": "text", "text": asked["params"]["arguments"]["text"].upper()}], "isError": False}


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """Its URL, and the methods that clients called."""
    asked: list[str] = []
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Tools,), {"asked": asked}))) as server:
        yield f"http://localhost:{server.server_port}/mcp", asked


CLIENT = """
import json, os, urllib.request

(server,) = json.loads(os.environ["MLECORE_MCP"]).values()
headers = {name: os.environ[variable] for name, variable in server["headers"].items()}
headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def ask(method, number=None, **params):
    body = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
    reply = urllib.request.urlopen(urllib.request.Request(server["url"], json.dumps(body).encode(), headers))
    data = reply.read().decode()
    return json.loads(data.partition("data: ")[2])["result"] if data else None


ask("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"})
ask("notifications/initialized")
(tool,) = ask("tools/list", 2)["tools"]
print(ask("tools/call", 3, name=tool["name"], arguments={"text": "found it"})["content"][0]["text"])
try:
    urllib.request.urlopen("http://example.org:81/")
except OSError as error:
    print("elsewhere:", type(error).__name__)
"""


@pytest.mark.slow
@pytest.mark.sandbox
def test_an_agent_in_a_sandbox_uses_the_server_and_nothing_else(
    server: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, asked = server
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_TOKEN", SECRET)
    Path("client.py").write_text(CLIENT)
    mcp = {"lab": {"url": url, "headers": {"Authorization": "LAB_TOKEN"}}}
    done = scripted_run("command", [Answer(text="x")], tmp_path, options={"argv": "python3 client.py"}, mcp=mcp)
    output = (done.record.folder / "logs" / "output.log").read_text()
    assert output.startswith("FOUND IT\nelsewhere: HTTPError"), output
    assert asked == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    written = (done.record.folder / "run.json").read_text() + (done.record.folder.parent / "plan.toml").read_text()
    assert SECRET not in written and "LAB_TOKEN" in written
    assert done.record.limits.mcp["lab"] == McpServer(url=url, headers={"Authorization": "LAB_TOKEN"})
    assert conditions(done.record)["MCP servers"] == f"lab={url}"
    relay = [json.loads(line) for line in (done.record.folder / "logs" / "relay.jsonl").read_text().splitlines()]
    assert {line["verdict"] for line in relay if f":{line['port']}/" in url} == {"allowed"}


def plan(**limits: Any) -> Plan:
    agents = [{"name": "claude-code", "model": "m", "endpoint": "https://models.example.org/v1"}]
    return make_plan({"agents": agents, "competitions": ["optical-digits"], "limits": limits})


def test_a_server_is_a_host_that_the_relay_lets_through_and_a_secret_by_name() -> None:
    made = plan(mcp={"s": {"url": "https://mcp.example.org/mcp", "headers": {"X-Key": "S_KEY"}}}, allow=["example.net"])
    assert made.limits.allow == ("example.net", "mcp.example.org:443") and made.limits.secrets == ("S_KEY",)
    assert made.limits.network == "llm"
    assert parse_plan(write_plan(made)) == made
    assert "only the MCP server s, and the model" in instructions_for(made.limits).text
    assert "MCP" not in instructions_for(plan().limits).text
    assert plan(mcp={"s": {"url": "http://[fd00::1]:8000/mcp"}}).limits.allow == ("[fd00::1]:8000",)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://x.org/", "https://", "https://user:pw@x.org/mcp", "https://x.org/mcp?key=1"),
        *("https://x.org:99999/", "https://*.x.org/", "https://x.org/${HOME}"),
    ],
)
def test_what_is_no_server_or_hides_a_secret_is_rejected(url: str) -> None:
    with pytest.raises(UsageError, match=r"limits\.mcp: s is not a name with the URL"):
        plan(mcp={"s": {"url": url}})


def test_an_address_of_the_sandbox_is_rejected() -> None:
    for host in ("127.0.0.1", "[::1]"):
        with pytest.raises(UsageError, match="address of the sandbox") as caught:
            plan(mcp={"s": {"url": f"http://{host}:8000/mcp"}})
        assert "http://localhost:8000/mcp" in str(caught.value.fix)


def test_odd_names_headers_and_networks_are_rejected() -> None:
    good = "https://x.org/mcp"
    with pytest.raises(UsageError, match="is not a name"):
        plan(mcp={"a.b": {"url": good}})
    for header, variable in (("X Key", "A"), ("X-Key", "Bearer abc"), ("X-Key\n", "A")):
        with pytest.raises(UsageError, match=r"expected a header|the name of an environment variable"):
            plan(mcp={"s": {"url": good, "headers": {header: variable}}})
    with pytest.raises(UsageError, match="cannot be reached without a network"):
        plan(mcp={"s": {"url": good}}, network="none")


def call(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["run", "--dry-run", *words])
    return done.exit_code, str(done.exception) if isinstance(done.exception, UsageError) else done.output


def test_agents_that_take_none_are_rejected_before_anything_starts(data: Path, tmp_path: Path) -> None:
    there = ("--data", str(data), "--runs", str(tmp_path))
    _, output = call("--competition", "coins", "--agent", "worker", "--mcp", "s=https://x.org/mcp", *there)
    assert "agent worker takes no MCP servers, and the plan names s" in output
    assert not list(tmp_path.iterdir())
    (tmp_path / "plan.toml").write_text(
        'competitions = ["coins"]\nagents = [{ name = "command", options = { argv = "true" } }]\n'
        '[limits.mcp.s]\nurl = "https://x.org/mcp"\nheaders = { X = "S_KEY" }\n'
    )
    _, output = call("--plan", str(tmp_path / "plan.toml"), *there)
    assert "needs S_KEY in the environment" in output


def test_claude_code_and_codex_get_it_in_their_configuration(tmp_path: Path) -> None:
    servers = {"s": McpServer(url="https://x.org/mcp", headers={"X-Key": "S_KEY"})}
    for plugin, name in ((mle_agent_claude_code, "claude-code"), (mle_agent_codex, "codex")):
        task = next(AgentBench(load("agent", name), {}, tmp_path).tasks())
        argv, plain = (
            json.loads(plugin.launch(evolve(task, mcp=mcp)).env["SESSIONS"])["first"] for mcp in (servers, {})
        )
        assert not any("mcp" in word for word in plain)
        if name == "codex":
            assert 'mcp_servers.s.url="https://x.org/mcp"' in argv
            assert 'mcp_servers.s.env_http_headers.X-Key="S_KEY"' in argv
        else:
            config = json.loads(argv[argv.index("--mcp-config") + 1])
            headers = {"X-Key": "${S_KEY}"}
            assert config == {"mcpServers": {"s": {"type": "http", "url": "https://x.org/mcp", "headers": headers}}}
