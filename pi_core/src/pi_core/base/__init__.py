"""Helpers for the whole engine: paths, JSON files, locks, sizes, frontmatter, terminal text, secrets, processes."""
