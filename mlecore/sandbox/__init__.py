"""What is inside every sandbox: init, validate, and the instructions."""
