"""A task set for verifiers: `vf-eval mle-ext-verifiers --env.taskset.path TASKS`.

verifiers imports this module by its name, and takes the task set and its default agent from ``__all__``.
"""

from mle_ext_verifiers.harness import ShellHarness
from mle_ext_verifiers.taskset import CompetitionTaskset

__all__ = ["CompetitionTaskset", "ShellHarness"]
