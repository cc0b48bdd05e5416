"""Exchange of runs between labs: signed exports that others can verify, and results of other harnesses."""
