"""The interface between a front end and a session, and its implementations."""
