"""Environment variables with which a command becomes another one."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

__all__ = ["ASSIGNMENT", "effect_of"]

Effect: TypeAlias = Literal["command", "code"]

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.ASCII | re.DOTALL)

_COMMANDS = frozenset(
    "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER AWS_PAGER GH_PAGER DELTA_PAGER BAT_PAGER EDITOR VISUAL GIT_EDITOR "
    "GIT_SEQUENCE_EDITOR SVN_EDITOR HGEDITOR FCEDIT SUDO_EDITOR BROWSER GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF "
    "GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_PROXY_COMMAND LESSOPEN LESSCLOSE RSYNC_RSH CVS_RSH SVN_SSH HGMERGE "
    "PROMPT_COMMAND RUSTC RUSTC_WRAPPER CC CXX AR LD SHELL".split()
)
"""Their value is run."""

_CODE = {
    "BASH_ENV|ENV|PS4|SHELLOPTS|BASHOPTS": ".",
    "LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH": ".",
    "GIT_CONFIG_.*|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_ALLOW_PROTOCOL": r"(?!/dev/null$|[01]$|true$)",
    "LESS": r"\+|k",
    "LESSKEY.*": ".",
    "PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|PYTHONHOME": ".",
    "NODE_OPTIONS": "(^|\\s)(-r|--require|--import|--(experimental-)?loader|--eval|-e)",
    "MAKEFLAGS|GNUMAKEFLAGS|MFLAGS": "eval|SHELL|-f",
    "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS": "agent|-XX:On",
    "CARGO_.*_(RUNNER|LINKER|WRAPPER)": ".",
}
"""Patterns of names, and what in the value changes what later commands do."""


def effect_of(name: str, value: str, *, known: bool) -> Effect | None:
    """Return what giving a variable a value does: it is run as a ``command``, or changes ``code``; else None.

    Args:
        name: The variable.
        value: What it gets.
        known: Whether that is the whole of it.
    """
    if name in _COMMANDS:
        return "command" if value else None
    pattern = next((each for names, each in _CODE.items() if re.fullmatch(names, name)), None)
    if pattern is None or (known and not (value and re.search(pattern, value))):
        return None
    return "code"
