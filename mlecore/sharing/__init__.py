"""What labs give each other: bundles of runs, MLE-bench's groups, prepared data."""
