"""The command ``pi``: a prompt goes in on the command line, the answer is printed.

As a plugin it registers the front end ``print`` and the subcommands ``auth``, ``plugins`` and ``hooks``. These
hook implementations stand in ``_registrations`` and come here when somebody looks for them, as the plugin
host does: ``pi --version`` must not pay for the contract package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_cli._registrations import register_modes, register_subcommands

__all__ = ["__version__", "main", "register_modes", "register_subcommands"]

__version__ = "1.0.0"


def main() -> int:
    """Run the command line of this process and return the exit code."""
    import gc
    import os
    import sys

    _open_closed_streams()
    gc.disable()  # start-up makes nothing but long-lived objects; the collector is back before the first request
    if sys.argv[1:2] in (["--version"], ["-v"]):
        try:
            print(__version__, flush=True)  # noqa: T201 - the whole output; print also puts up with a closed stdout
        except OSError:  # nobody reads it, or there is no room for it
            sys.stdout = None  # else the interpreter tries once more, and complains
            return 1
        return 0
    code = 130
    try:
        from pi_cli._main import run

        code = run(sys.argv[1:], os.environ)
        if "threading" in sys.modules:  # else no plugin was loaded
            from pi_cli._leftovers import leave_exit_handlers, leave_threads

            leave_threads(code)
            leave_exit_handlers(code)
    except KeyboardInterrupt:  # before there was anything to end in good order, or afterwards
        return code
    return code


def _open_closed_streams() -> None:
    """Open the null device for stdin, stdout and stderr where they are closed: other files would get their numbers."""
    import os

    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - the lowest free number is this one


def __getattr__(name: str) -> Any:
    if name not in ("register_modes", "register_subcommands"):
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from pi_cli import _registrations

    value = globals()[name] = getattr(_registrations, name)
    return value


def __dir__() -> list[str]:
    # The host lists a plugin's names and then looks at them where they are, without asking __getattr__.
    for name in ("register_modes", "register_subcommands"):
        __getattr__(name)
    return sorted(globals())
