"""The objects that plugins use: ``pi``, ``ctx``, the event bus, and the handles that expire with their session."""
