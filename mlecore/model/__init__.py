"""Values of the domain, which every layer above may use."""
