"""Completion of typed text: commands and their arguments, files, paths, and offers of plugins."""
