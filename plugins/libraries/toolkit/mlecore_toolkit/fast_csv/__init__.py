"""Large CSV tables, read and written with polars: faster than pandas, with the same result."""
