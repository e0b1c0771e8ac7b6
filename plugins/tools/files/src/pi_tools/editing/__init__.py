"""Matching, replacement and diffs for ``edit``."""
