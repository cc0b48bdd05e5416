"""The agent's loop in its box: the model calls `bash` until it answers without a call. Standard library alone, for any
Python from 3.8 on, so that a box needs neither packages nor a network.

Arguments: base URL, key, model, and the messages (JSON) in parts, because one argument holds at most 128 KiB.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from typing import Any

CONNECTION_FAILED = 97  # exit code; verifiers.v1.errors.MODEL_TRANSPORT_ERROR_EXIT_CODE
ATTEMPTS = 4
SECONDS = 3600  # of one command
SHOWN = 10_000  # bytes of the beginning and of the end of its output
TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": f"Run a bash command and return its output. It may take {SECONDS} seconds; of a long output you "
        f"see the first and the last {SHOWN} bytes.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}


def main() -> None:
    base, key, model, *parts = sys.argv[1:]
    messages = json.loads("".join(parts))
    while True:
        body = {"model": model, "messages": messages, "tools": [TOOL], "stream": True}
        try:
            message = ask(f"{base}/chat/completions", key, json.dumps(body).encode())
        except urllib.error.HTTPError as error:
            if error.code in (400, 413) and messages[-1]["role"] == "tool":
                return  # the conversation has grown beyond the model's context: the work so far counts
            sys.exit(f"the model answered {error.code}: {error.read().decode(errors='replace')}")
        except (OSError, http.client.HTTPException) as error:
            print(f"the model cannot be reached: {error}", file=sys.stderr)
            sys.exit(CONNECTION_FAILED)
        messages.append(message)
        if not message.get("tool_calls"):
            return
        for call in message["tool_calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer(call["function"])})


def ask(url: str, key: str, body: bytes) -> dict[str, Any]:
    """The model's message. Raises HTTPError, OSError and HTTPException after the last attempt."""
    for attempt in range(ATTEMPTS):
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        if attempt:
            headers["x-stainless-retry-count"] = str(attempt)  # verifiers then answers a repeated call only once
            time.sleep(2**attempt)
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
                return joined(response)
        except urllib.error.HTTPError as error:
            if attempt == ATTEMPTS - 1 or error.code not in (408, 409, 429, 500, 502, 503, 504):
                raise
        except (OSError, http.client.HTTPException):
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError


def joined(lines: Iterable[bytes]) -> dict[str, Any]:
    """The message of a stream of server-sent events. Raises ConnectionError if it ended early."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    finished = False
    for line in lines:
        text = line.strip()
        if not text.startswith(b"data:") or text == b"data: [DONE]":
            continue
        for choice in json.loads(text[5:]).get("choices") or ():
            finished = finished or bool(choice.get("finish_reason"))
            for name, value in (choice.get("delta") or {}).items():
                if name == "tool_calls":
                    for part in value or ():
                        add(calls.setdefault(part["index"], {"type": "function", "function": {}}), part)
                elif isinstance(value, str) and name != "role":
                    message[name] = (message.get(name) or "") + value
                elif isinstance(value, list):
                    message[name] = (message.get(name) or []) + value
    if not finished:
        raise ConnectionError("the answer is cut off")
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return message


def add(call: dict[str, Any], part: dict[str, Any]) -> None:
    call["id"] = part.get("id") or call.get("id")
    function = part.get("function") or {}
    call["function"]["name"] = function.get("name") or call["function"].get("name")
    call["function"]["arguments"] = call["function"].get("arguments", "") + (function.get("arguments") or "")


def answer(function: dict[str, Any]) -> str:
    """Output of a call, or what is wrong with it."""
    if function["name"] != "bash":
        return f"error: there is no tool {function['name']}; use bash"
    try:
        command = json.loads(function["arguments"])["command"]
    except (ValueError, KeyError, TypeError):
        return 'error: the arguments are no JSON object like {"command": "ls"}'
    if not isinstance(command, str):
        return "error: the command is no text"
    return run(command)


def run(command: str) -> str:
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                ["bash", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"error: {error}"
        note = ""
        try:
            code = process.wait(SECONDS)
            note = f"\n[exit code {code}]" if code else ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            note = f"\n[killed after {SECONDS} seconds]"
        size = output.seek(0, os.SEEK_END)
        output.seek(0)
        if size <= 2 * SHOWN:
            shown = output.read(2 * SHOWN)
        else:
            shown = output.read(SHOWN) + b"\n[...]\n"
            output.seek(size - SHOWN)
            shown += output.read(SHOWN)
    return shown.decode(errors="replace") + note


if __name__ == "__main__":
    main()
