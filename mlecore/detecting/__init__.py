"""Runs detectors: which of them can judge here, each in a separate process, over the runs of a group."""
