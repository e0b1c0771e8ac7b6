"""Themes: which colours the roles of a line have."""
