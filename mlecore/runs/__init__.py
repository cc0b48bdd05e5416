"""Groups of runs on disk. A run is one agent on one competition with one seed on one backend."""
