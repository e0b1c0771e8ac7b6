"""Models: registry, name resolution, and what requests need: address, key and headers."""
