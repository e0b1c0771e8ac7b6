"""The other end of the pipes, for plugins in Python: ``main`` runs one that is written as for pi's own process."""

from pi_isolated.child.child_main import main

__all__ = ["main"]
