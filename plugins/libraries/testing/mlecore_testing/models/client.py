"""A client of a model for jobs of tests: a text of Python, since nothing of mlecore is inside a sandbox."""

ASK = """
import json, os, sys, time, urllib.error, urllib.request
def ask(model="scripted"):
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "hello"}]}).encode()
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=120)
        return json.load(answer)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return error.code
"""
"""Defines ``ask(model)``, which returns the text of an answer, or the status of an error."""
