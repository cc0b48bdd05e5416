"""Data on disk: where they are, how they get there, and how mlecore knows that they are complete."""
