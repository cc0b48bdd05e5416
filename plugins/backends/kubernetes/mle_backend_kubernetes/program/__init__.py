"""The program of helper pods. Needs only Python 3.8 or later and its standard library."""
