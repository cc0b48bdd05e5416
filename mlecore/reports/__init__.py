"""From runs to numbers that people compare: rates over competitions, mean and standard error over seeds."""
