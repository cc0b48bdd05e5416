"""Runs detectors: which of them can judge here, each in a process of its own, over the runs of a group."""
