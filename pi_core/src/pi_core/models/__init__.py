"""Models: registry, name resolution, and the address, key and headers of requests."""
