"""pi in notebooks: ``%load_ext pi`` adds ``%%pi`` and its siblings. A program, not a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_NAME = "PiMagics"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics to a shell; IPython calls it for ``%load_ext pi``, and for ``%load_ext pi_jupyter``."""
    from pi_jupyter.magics import PiMagics

    shell.register_magics(PiMagics(shell))


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """End the conversation and remove the magics; IPython calls it for ``%unload_ext pi``."""
    magics = shell.magics_manager.registry.pop(_NAME, None)
    if magics is None:
        return
    magics.close()
    for kind, names in magics.magics.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
