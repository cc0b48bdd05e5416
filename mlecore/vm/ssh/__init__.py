"""The backend vm on other machines: what the controller does so that hosts run jobs, over SSH."""
