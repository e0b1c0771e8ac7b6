"""Conversion of Markdown to styled lines, for complete text and for text that is being received."""
