"""What every room builds on: paths, JSON files, locks, sizes, frontmatter, text for terminals, secrets, processes."""
