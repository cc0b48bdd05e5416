"""The supervisor, a process for each job. It imports little, to stay light: the standard library and `spare`."""
