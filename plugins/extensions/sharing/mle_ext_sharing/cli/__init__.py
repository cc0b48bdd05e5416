"""The commands `mlecore runs export`, `verify` and `import`."""
