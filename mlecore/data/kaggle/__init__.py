"""Kaggle: its client for who we are and what we may, our own downloading for bytes."""
