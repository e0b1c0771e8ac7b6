"""The command ``pi``: takes a prompt on the command line and prints the answer.

As a plugin it registers the front end ``print`` and the subcommands ``auth``, ``plugins`` and ``hooks``. These
hook implementations are defined in ``registrations`` and are exported here lazily, when the plugin host looks them
up: ``pi --version`` must not pay for the contract package.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat it as true; importing typing would take 8 ms, half of ``pi --version``
if TYPE_CHECKING:
    from typing import Any

    from pi_cli.registrations import (
        register_commands,
        register_modes,
        register_permissions,
        register_settings,
        register_subcommands,
    )

__all__ = [
    "__version__",
    "main",
    "register_commands",
    "register_modes",
    "register_permissions",
    "register_settings",
    "register_subcommands",
]

_HOOKS = ("register_commands", "register_modes", "register_permissions", "register_settings", "register_subcommands")

__version__ = "1.1.0"


def main() -> int:
    """Run the command line of this process and return the exit code."""
    import gc
    import os
    import sys

    _open_closed_streams()
    gc.disable()  # start-up makes nothing but long-lived objects; the collector is back before the first request
    if sys.argv[1:2] in (["--version"], ["-v"]):
        try:
            print(__version__, flush=True)  # noqa: T201 - the whole output; print also accepts a closed stdout
        except OSError:  # the reader is gone, or the disk is full
            sys.stdout = None  # else the interpreter flushes again, and prints an error
            return 1
        return 0
    code = 130
    try:
        from pi_cli.command_line import run

        code = run(sys.argv[1:], os.environ)
        if "threading" in sys.modules:  # else no plugin was loaded
            from pi_cli.leftovers import leave_exit_handlers, leave_threads

            leave_threads(code)
            leave_exit_handlers(code)
    except KeyboardInterrupt:  # before there was anything to shut down, or afterwards
        return code
    return code


def _open_closed_streams() -> None:
    """Open the null device for stdin, stdout and stderr where they are closed: else other files get their numbers."""
    import os

    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - the lowest free number is this one


def __getattr__(name: str) -> Any:
    if name not in _HOOKS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from pi_cli import registrations

    value = globals()[name] = getattr(registrations, name)
    return value


def __dir__() -> list[str]:
    # The host lists a plugin's names and reads them without __getattr__.
    for name in _HOOKS:
        __getattr__(name)
    return sorted(globals())
