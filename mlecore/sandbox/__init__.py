"""What stands inside every sandbox: init, validate, and the instructions."""
