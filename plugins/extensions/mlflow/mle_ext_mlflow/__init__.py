"""Logs runs, scores and artefacts to MLflow."""
