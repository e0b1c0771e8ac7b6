"""What plugins hold: ``pi``, ``ctx``, the bus between plugins, and the handles that end with a session."""
