"""Exchange between labs: bundles of runs, MLE-bench's groups, prepared data."""
