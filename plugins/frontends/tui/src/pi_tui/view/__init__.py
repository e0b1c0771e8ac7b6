"""What there is to see of a session: plain values, changed by the events of the session."""
