"""Reading a submission: its table, its format, its rows beside the answers', its columns as arrays.

``table`` reads a file as pandas 2 does, ``format`` is the ``[submission]`` table of competition.toml and reads by it,
``alignment`` pairs rows with the answers', ``values`` turns columns into arrays, ``check`` adds warnings, ``guard``
looks at the bytes first. Whatever is wrong raises InvalidSubmission with the reason.
"""
