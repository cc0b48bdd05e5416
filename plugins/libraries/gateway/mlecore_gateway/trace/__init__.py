"""A run's calls as one trajectory in ATIF, Harbor's Agent Trajectory Interchange Format (version 1.7), for any agent.

It comes from what the gateway wrote, so it needs no help of the agent. What the model saw becomes steps of ``system``
and ``user``, each answer one of ``agent`` with its tokens and cost, and what tools returned its observation. Everything
in it is from agents and endpoints, so it is read in bounded memory and without trust.
https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md
"""

from .document import read_steps, write_trace

__all__ = ["read_steps", "write_trace"]
