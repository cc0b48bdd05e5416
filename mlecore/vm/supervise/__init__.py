"""The supervisor, a process for each job: standard library only, without site-packages, light as there are many."""
