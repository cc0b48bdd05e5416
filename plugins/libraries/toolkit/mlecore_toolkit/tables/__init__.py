"""Reading large CSV tables faster than pandas does, with the same result."""
