"""The clients that agents are written with, in a sandbox of each backend: what they used is counted to the token."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from mlecore_testing.models import Answer, Script, scripted_model

import mlecore.sandbox
from mlecore.agents import Recipe
from mlecore.backends import Dataset, Job, Resources
from mlecore.errors import MlecoreError
from mlecore.model_access import ModelAccess
from mlecore.registry.opening import open_backend
from mlecore.runs.measured import measure

pytestmark = [pytest.mark.network, pytest.mark.slow]

KEY = "sk-real-0123456789abcdef"
CHECK = """
import anthropic, openai
asked = {"model": "scripted", "messages": [{"role": "user", "content": "a question"}]}
client = openai.OpenAI()
print(client.chat.completions.create(**asked).choices[0].message.content)
print("".join(c.choices[0].delta.content or "" for c in client.chat.completions.create(**asked, stream=True)))
print(client.responses.create(model="scripted", input="a question").output_text)
print(len(client.embeddings.create(model="scripted", input=["a", "b"]).data))
client = anthropic.Anthropic()
print(client.messages.create(**asked, max_tokens=9).content[0].text)
with client.messages.stream(**asked, max_tokens=9) as stream:
    print("".join(stream.text_stream))
"""
NODE = """
const OpenAI = require("openai");
const client = new OpenAI();
const asked = {model: "scripted", messages: [{role: "user", content: "a question"}]};
(async () => {
  console.log((await client.chat.completions.create(asked)).choices[0].message.content);
  let text = "";
  for await (const chunk of await client.chat.completions.create({...asked, stream: true}))
    text += chunk.choices[0]?.delta?.content ?? "";
  console.log(text);
})();
"""
SCRIPT = 'python3 check.py && NODE_PATH="${VIRTUAL_ENV:+$VIRTUAL_ENV/node_modules:}$(npm root -g)" node check.js'


@pytest.mark.parametrize(
    "name", [pytest.param("vm", marks=pytest.mark.sandbox), pytest.param("docker", marks=pytest.mark.docker)]
)
def test_usual_clients(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "state"))
    backend = open_backend(name, {}).backend
    if problems := [problem for problem in backend.preflight() if problem.fatal]:
        pytest.skip(problems[0].description)
    public = tmp_path / "public"
    public.mkdir()
    tmp_path.chmod(0o755)
    dataset = Dataset(competition="c", edition="v1", public=public, digest="d")
    try:
        image = backend.build(Recipe(pip=("openai", "anthropic"), npm=("openai",)), tmp_path / "build.log")
    except MlecoreError as error:
        pytest.skip(f"the clients cannot be installed here: {error}")
    with scripted_model(Script(key=KEY, answers=(Answer(text="a scripted answer", times=0),))) as model:
        access = ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", models=("scripted",))
        job = Job(
            name=f"mle-{uuid.uuid4().hex[:12]}-1",
            group="g",
            image=image,
            dataset=dataset,
            data=backend.stage_data(dataset, lambda *_: None),
            argv=("/bin/sh", "-c", SCRIPT),
            tools={"init": Path(mlecore.sandbox.__file__).parent / "init"},
            files={"check.py": CHECK.encode(), "check.js": NODE.encode()},
            resources=Resources(network="llm", model=access, time_limit=120.0),
        )
        handle = backend.start(job)
        try:
            output = b"".join(backend.logs(handle, follow=True)).decode()
            backend.fetch(handle, ["logs"], tmp_path / "out", 10**7, 100)
        finally:
            backend.remove(handle)
        answer = "a scripted answer\n"
        assert output == answer * 3 + "2\n" + answer * 4
        counted = measure(tmp_path / "out/logs/gateway.jsonl")
        assert (counted.calls, counted.unknown, counted.failed) == (8, 0, 0)
        assert (counted.input_tokens, counted.output_tokens) == (model.served.input, model.served.output)
