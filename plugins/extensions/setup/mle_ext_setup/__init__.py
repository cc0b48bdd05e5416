"""Commands that set a machine up: check it, try everything on small data, and build what agents need ahead of runs."""
