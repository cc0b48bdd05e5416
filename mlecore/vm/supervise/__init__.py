"""The process that holds one job: standard library only, run without site-packages, light because there are many."""
