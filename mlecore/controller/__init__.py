"""The controller takes a group of runs from its plan to its grades."""
