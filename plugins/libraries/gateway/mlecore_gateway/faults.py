"""Decides whether a call failed through its endpoint's fault, which the agent must not answer for.

An agent may cause almost any error by what it asks. So the gateway believes in a failure of the endpoint only if a tiny
call of its own fails in the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator

import aiohttp

from .calls import Call
from .places import API, api_of
from .probe import Finding, Kind, kind_of, probe
from .settings import Settings

FRESH = 30.0  # seconds that a finding is good for
PATIENCE = 120.0  # seconds without a first byte after which the endpoint is probed: a tiny call would be answered
PROBE_SECONDS = 30.0
_DOWN: tuple[Kind, ...] = ("unreachable", "silent", "failing", "key", "quota", "model")


class Faults:
    """Notes in one gateway's unanswered calls whether the endpoint failed."""

    def __init__(self, settings: Settings, session: aiohttp.ClientSession) -> None:
        self._settings = settings
        self._session = session
        self._turn = asyncio.Lock()
        self._found: dict[str, tuple[float, Finding]] = {}  # by model: when, and what
        self._worked: set[API] = set()

    @contextlib.contextmanager
    def watching(self, call: Call) -> Iterator[None]:
        """Look at the endpoint also while the call gets no answer for long: the run may end before the call does."""
        task = asyncio.create_task(self._watch(call))
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self, call: Call) -> None:
        while not call.fault:
            await asyncio.sleep(PATIENCE)
            if call.sent and call.first_byte is None:
                finding = await self._finding(call)
                if finding is not None and finding.kind in _DOWN and call.first_byte is None:
                    call.fault = str(finding)

    def answered(self, call: Call) -> None:
        """The endpoint has answered the call."""
        call.fault = ""
        if api := api_of(call.path, self._settings.base.path):
            self._worked.add(api)

    async def judge(self, call: Call, status: int | None, error: str = "") -> None:
        """Set ``call.fault`` of a call that failed; ``status`` and ``error``: what the endpoint said, if it did."""
        call.fault = ""
        seen = set(_DOWN) if status is None or status >= 500 else {kind_of(status, error)}
        suspects = seen & set(_DOWN) - ({"model"} if call.unplanned else set())
        if suspects and (finding := await self._finding(call)) and finding.kind in suspects:
            call.fault = str(finding)

    async def _finding(self, call: Call) -> Finding | None:
        """None if the call is none that a model answers."""
        api, model = api_of(call.path, self._settings.base.path), self._model(call)
        if api is None or model is None or call.method != "POST":
            return None
        async with self._turn:
            at, finding = self._found.get(model, (0.0, None))
            if finding is None or time.monotonic() - at > FRESH:
                # An API that never worked may have been chosen because it does not work.
                doubtful: tuple[Kind, ...] = ("path", "model") if api in self._worked else ("path", "model", "failing")
                finding = await probe(self._session, self._settings, model, PROBE_SECONDS, call.path, doubtful=doubtful)
                self._found[model] = time.monotonic(), finding
        return finding

    def _model(self, call: Call) -> str | None:
        """A model of the plan, where it names any: the agent may know others that never answer."""
        if not call.unplanned or not self._settings.models:
            return call.asked
        return self._settings.models[0]
