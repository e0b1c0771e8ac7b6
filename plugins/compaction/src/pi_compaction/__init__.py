"""Makes long conversations short."""
