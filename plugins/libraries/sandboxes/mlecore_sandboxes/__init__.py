"""Sandboxes on one machine: the controller's own (backend vm), a host over SSH, or a node of Slurm."""
