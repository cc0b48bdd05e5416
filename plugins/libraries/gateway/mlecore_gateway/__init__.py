"""The model gateway: the only way from a run to its model under ``network=llm``.

One process beside each run holds the real key, passes on what the agent asks of the model's endpoint, counts every call
in ``gateway.jsonl`` and ends what goes beyond the run's budgets. It needs no controller: its log is its memory.

The package imports nothing of mlecore (but for the command in ``trace``), because it also runs where mlecore is not
installed: in a container or a pod, built from ``mlecore.model.model_access.recipe()``.
"""
