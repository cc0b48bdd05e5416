"""Formulas that several competitions share, one per module.

By default all are exact to the published benchmark (pandas 2.3, scikit-learn 1.9), whichever version of scikit-learn is
installed.
"""
