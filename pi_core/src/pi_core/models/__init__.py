"""Which models there are, what a name means, and what a request to one needs: address, key, headers."""
