"""Stored sessions of other agents as sessions of pi."""
