"""The visible state of a session: plain values, which the session's events update."""
