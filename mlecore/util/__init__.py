"""Tools that know nothing of competitions, agents and runs."""
