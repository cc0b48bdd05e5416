"""The supervisor, a process for each job. It imports the standard library and `mlecore.sandbox` only, to stay light."""
