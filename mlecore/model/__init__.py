"""The values that hooks get and return, and that records hold."""
