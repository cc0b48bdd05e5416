"""What runs on a node, started by sbatch's script with the Python and the packages of the controller."""
