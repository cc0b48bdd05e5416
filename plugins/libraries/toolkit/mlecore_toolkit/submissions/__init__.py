"""Reads submissions.

``guard`` checks the bytes first, ``table`` reads a file as pandas 2 does, ``format`` applies the ``[submission]`` table
of competition.toml, ``alignment`` pairs rows with the answers, ``values`` turns columns into arrays, and ``check`` adds
warnings. Everything wrong with a submission raises InvalidSubmission with the reason.
"""
