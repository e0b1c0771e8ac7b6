"""The API objects of plugins: ``pi``, ``ctx``, the event bus, and the handles that are retired with a session."""
