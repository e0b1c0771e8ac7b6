"""Programs that pi starts: any process, and those that are plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["PluginManifest", "SpawnRequest"]


def _words(argv: Iterable[str]) -> tuple[str, ...]:
    if isinstance(argv, str):
        raise TypeError(f"argv is {argv!r}; give the program and its arguments one by one, as ('sh', '-c', {argv!r})")
    words = tuple(argv)
    if not words:
        raise ValueError("argv is empty; its first element is the program")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"argv has {word!r:.60}, which is not text")
    return words


def _folder(cwd: str) -> str:
    if not isinstance(cwd, str):
        raise TypeError(f"cwd is {cwd!r:.60}; give the folder as a string")
    return cwd


def _variables(env: Mapping[str, str]) -> Mapping[str, str]:
    if not hasattr(env, "items"):
        raise TypeError(f"env is a {type(env).__name__}; give the whole environment, as dict(os.environ)")
    for name, value in env.items():
        if not all(isinstance(each, str) for each in (name, value)):
            raise TypeError(
                f"env has the variable {name!r:.60} with a value of type {type(value).__name__}; both must be strings"
            )
    return env


@frozen(kw_only=True, eq=False, repr=False)
class SpawnRequest(Value):
    """A program that is about to be started on this machine.

    Attributes:
        argv: The program and its arguments; a program without a folder is looked up on the ``PATH`` of ``env``. For a
            command of ``bash`` or of the user the program is the shell, and the command its last argument.
        cwd: Where it runs, absolute.
        env: The whole environment.
        purpose: What starts it, as in ``ChildEnvironmentEvent``, or ``search`` for ripgrep.
        call_id: Id of the tool call that starts it; None outside of one.

    Raises:
        TypeError: Something in it is not text.
        ValueError: ``argv`` is empty.
    """

    argv: tuple[str, ...] = field(converter=_words)
    cwd: str = field(converter=_folder)
    env: Mapping[str, str] = field(converter=_variables, repr=False)
    purpose: str
    call_id: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class PluginManifest(Value):
    """A plugin that is a program: the contents of its ``pi_plugin.json``, for a ``PluginRunner``.

    Attributes:
        name: The plugin's name.
        command: The program and its arguments; relative paths are below ``folder``.
        contract: The version of the contract that it is written for, ``1.1``.
        folder: Where it is, and where it runs.
        grants: The declared grants, which are enforced; None without a declaration.
        agent_dir: The agent directory.
        entry: The plugin's file, if the program runs several plugins: those of a session with the same command share
            one process, which gets the name and the file of each. None for a program that is one plugin.
        options: Further fields of the message ``start`` to a process that is shared; plain data.
        registers: What it is known to register before its first run, in the form in which a program reports it.
    """

    name: str
    command: tuple[str, ...] = field(converter=_words)
    contract: str
    folder: Path
    grants: Mapping[str, Any] | None = None
    agent_dir: Path
    entry: Path | None = None
    options: Mapping[str, Any] | None = None
    registers: Mapping[str, Any] | None = None
