"""Kaggle: its own client for login and rights, mlecore's downloads for the data."""
