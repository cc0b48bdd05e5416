"""Finds what a competition's prepared data and grader give away: answers, leaks, repeated items, flawed grading.

``mlecore_audit.run.audit`` examines one competition; `mlecore audit` prints what it finds.
"""
