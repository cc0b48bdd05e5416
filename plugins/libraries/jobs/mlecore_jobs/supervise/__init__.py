"""The supervisor, a process for each job. It imports nothing but the standard library and modules of this package."""
