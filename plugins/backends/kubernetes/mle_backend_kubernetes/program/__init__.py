"""What runs in pods of ours beside an agent; it needs nothing but Python."""
