"""Helpers of every room: paths, JSON files, locks, sizes, frontmatter, text for terminals, secrets, processes."""
