"""Local extensions: plugins without packaging, each a file or a folder."""

from __future__ import annotations

from pi_core.host.extensions.local import LocalExtensions

__all__ = ["LocalExtensions"]
