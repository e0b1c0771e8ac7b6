"""How ``grep`` and ``find`` look through a tree: with ripgrep, and by a walk that knows its ignore files."""
