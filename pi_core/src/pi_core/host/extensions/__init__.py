"""Local extensions: plugins without packaging, a file or a folder each."""

from __future__ import annotations

from pi_core.host.extensions.local import LocalExtensions

__all__ = ["LocalExtensions"]
