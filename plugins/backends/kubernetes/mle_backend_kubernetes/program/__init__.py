"""What pods of ours run beside an agent. Python 3.8 or later and its standard library are enough."""
