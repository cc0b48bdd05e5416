"""Refusals in a form that clients of every protocol show to people."""

from __future__ import annotations

import msgspec

_GOOGLE = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}


class Refusal(Exception):
    """The gateway answers by itself; ``reason`` goes to the agent and into the log."""

    def __init__(self, status: int, reason: str, kind: str = "invalid_request_error", *, final: bool = True) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.kind = kind
        self.final = final  # retrying will not help

    def headers(self) -> dict[str, str]:
        """``x-should-retry`` is what the clients of OpenAI and Anthropic obey."""
        return {"Content-Type": "application/json", **({"x-should-retry": "false"} if self.final else {})}

    def body(self, path: str = "") -> bytes:
        """An error as OpenAI's and Anthropic's clients both read it; for a path of Gemini's, as Google's do."""
        message = f"mlecore gateway: {self.reason}"
        if ":" in path.rpartition("/")[2]:
            status = _GOOGLE.get(self.status, "UNAVAILABLE" if self.status >= 500 else "INVALID_ARGUMENT")
            return msgspec.json.encode({"error": {"code": self.status, "message": message, "status": status}})
        error = {"message": message, "type": self.kind, "code": self.kind, "param": None}
        return msgspec.json.encode({"type": "error", "error": error})
