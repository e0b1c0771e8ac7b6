"""Search of a tree for ``grep`` and ``find``: with ripgrep, and by a walk that respects ignore files."""
