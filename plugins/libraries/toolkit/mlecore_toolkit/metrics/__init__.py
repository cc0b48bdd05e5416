"""Metrics that several competitions share, one per module.

By default they equal the published benchmark's (pandas 2.3, scikit-learn 1.9), whichever scikit-learn is installed.
"""
