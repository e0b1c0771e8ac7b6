"""The short name of ``pi_jupyter`` for notebooks: ``%load_ext pi``. Programs import ``pi_core``."""

from __future__ import annotations

from pi_jupyter import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
