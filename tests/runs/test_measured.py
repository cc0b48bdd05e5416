"""The sums of a gateway's log."""

from __future__ import annotations

import msgspec
import pytest

from mlecore.runs.measured import difference, measure, spent_in
from mlecore_gateway.calls import Call, Tokens


def call(number, **values):
    given = {"time": f"2026-01-01T00:00:0{number}+00:00", "method": "POST", "path": "/v1/x", "asked": "m"}
    given |= {"outcome": "passed", "status": 200, "usage": "counted", "tokens": Tokens(input=100, output=10, cached=50)}
    return Call(number=number, **(given | {"cost_usd": 0.1, "priced_by": "the plan"} | values))


def log(tmp_path, *calls):
    path = tmp_path / "gateway.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(each) for each in calls) + b"\n")
    return path


def test_sums(tmp_path):
    none = {"tokens": None, "cost_usd": None, "priced_by": None}
    path = log(
        tmp_path,
        call(1, answered="m-1"),
        call(2, asked="other", unplanned=True),
        call(3, status=429, usage="none", retries=2, **none),
        call(4, outcome="refused", status=403, times=1000, **none),
        call(5, usage="unknown", estimate=Tokens(input=7, output=4), outcome="cut", tokens=None),
    )
    got = measure(path, ("220tok", "100calls"))
    assert (got.calls, got.refused, got.failed, got.retries, got.unknown) == (4, 1000, 2, 2, 1)
    assert (got.input_tokens, got.output_tokens, got.cached_tokens, got.estimated_tokens) == (200, 20, 100, 11)
    assert got.cost_usd == pytest.approx(0.2) and got.prices == ("the plan",)
    assert [(use.model, use.calls, use.unplanned) for use in got.models] == [("m", 3, False), ("other", 1, True)]
    assert got.models[0].answered == ("m-1",)
    assert (got.exhausted, got.exhausted_at) == ("220tok", "2026-01-01T00:00:02+00:00")


def test_tools_of_the_provider(tmp_path):
    search = {"fees_usd": 0.03, "cost_usd": 0.13}
    path = log(
        tmp_path,
        call(1, server_tools={"web_search": 3}, **search),
        call(2),
        call(3, server_tools={"web_search": 0, "code_interpreter": None}, fees_usd=None, cost_usd=None),
    )
    got = measure(path)
    assert [(use.tool, use.calls, use.uses) for use in got.server_tools] == [
        ("code_interpreter", 1, None),
        ("web_search", 2, 3),
    ]
    assert got.fees_usd is None and got.cost_usd is None, "a fee that is not known is not zero"
    (tmp_path / "known").mkdir()
    known = measure(log(tmp_path / "known", call(1, server_tools={"web_search": 3}, **search), call(2)))
    assert (known.fees_usd, known.cost_usd) == (pytest.approx(0.03), pytest.approx(0.23))
    assert measure(log(tmp_path, call(1))).server_tools == () and measure(log(tmp_path, call(1))).fees_usd is None


def test_tokens_that_no_call_reports_are_unknown(tmp_path):
    """Not zero; and the agent's own count of them is no difference."""
    got = measure(log(tmp_path, *(call(n, usage="unknown", estimate=Tokens(input=7), tokens=None) for n in (1, 2))))
    assert (got.usage.input_tokens, got.usage.output_tokens, got.usage.estimated_tokens) == (None, None, 14)
    assert difference(got, 500, 20) == ""


def test_a_retry_goes_on_with_the_run_s_budget(tmp_path):
    earlier = log(tmp_path, call(1), call(2), call(3, outcome="refused", status=429))
    spent = spent_in([earlier, tmp_path / "missing.jsonl"])
    assert spent == {"usd": pytest.approx(0.2), "tokens": 220, "calls": 2}
    (tmp_path / "again").mkdir()
    again = log(tmp_path / "again", call(1), call(2))
    assert measure(again, ("350tok",)).exhausted is None
    got = measure(again, ("350tok",), spent)
    assert (got.calls, got.exhausted, got.exhausted_at) == (2, "350tok", "2026-01-01T00:00:02+00:00")
    assert spent_in([tmp_path / "missing.jsonl"]) == {}
