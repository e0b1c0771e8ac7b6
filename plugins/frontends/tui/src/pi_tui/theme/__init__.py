"""Themes: the colours of the roles of a line."""
