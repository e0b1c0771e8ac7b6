"""Markdown to styled lines, whole and as it is received."""
