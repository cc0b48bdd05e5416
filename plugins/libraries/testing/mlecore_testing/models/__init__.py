"""A model that answers from a script, for testing agents, detectors and backends without a provider.

It speaks OpenAI's Chat Completions, Responses, Embeddings and ``/models`` and Anthropic's Messages and token counting,
streamed or not, and counts what it served::

    from mlecore_testing.models import Answer, Script, scripted_model

    with scripted_model(Script(answers=(Answer(text="ls data"), Answer(status=429, retry_after=1), Answer(text="done")))) as model:
        ...  # an agent with OPENAI_BASE_URL=model.url
        assert model.served.output == 4

The same as a program, with the script in a TOML file: ``python -m mlecore_testing.models script.toml --listen
127.0.0.1:8000``; ``GET /served`` then says what was counted.
"""  # noqa: E501

from .script import Answer, Script, Tool, Usage, read_script
from .server import Model, Served, scripted_model

__all__ = ["Answer", "Model", "Script", "Served", "Tool", "Usage", "read_script", "scripted_model"]
