"""Local extensions: plugins without packaging, a file or a folder each (pi.md 10.1)."""

from __future__ import annotations

from pi_core.extensions.local import LocalExtensions

__all__ = ["LocalExtensions"]
