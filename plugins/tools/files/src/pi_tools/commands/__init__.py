"""Runs programs for ``bash`` and ``grep``: starts them, reads their output, and ends them with all descendants."""
