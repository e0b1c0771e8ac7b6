"""One name for each program: ``pip3.11`` is pip, ``vim.basic`` vim, ``grm`` rm, ``docker-compose`` docker compose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_guardrails.words import Word

__all__ = ["with_usual_name"]

_VERSIONS = re.compile(
    r"(?P<name>pip|gem|npm|node|php|psql|pg_dump|pg_restore|lua|ruby|perl|tclsh|emacs|gcc|clang|guile|git|docker|go)"
    r"-?[0-9]+(\.[0-9]+)*"
)
_EDITORS = re.compile(r"(?P<name>vim|vi|nvim|gvim|emacs|nano)[.-](basic|tiny|nox|gtk\d?|athena|gnome|huge|lucid|pgtk)")
_LOADERS = re.compile(r"ld-linux[\w.-]*|ld-musl[\w.-]*|ld\.so[\d.]*")
"""Loaders of programs, which run the program that they are given."""

_GNU = frozenset(
    "chgrp chmod chown cp dd env find install kill ln mkdir mv nice nohup rm rmdir sed shred shuf sort split stdbuf "
    "tee timeout touch truncate unlink xargs".split()
)
"""Programs of GNU that other systems install with a ``g`` before their names."""

_SAME = {
    "batcat": "bat",
    "fdfind": "fd",
    "nodejs": "node",
    "pip3": "pip",
    "podman-remote": "podman",
    "nerdctl.lima": "nerdctl",
    "del": "rimraf",
    "del-cli": "rimraf",
    "mariadb-admin": "mysqladmin",
    "mariadb-dump": "mysqldump",
    "http-server": "http.server",
    "neovim": "nvim",
    "k": "kubectl",
    "tf": "terraform",
    "cursor": "code",
    "codium": "code",
    "code-insiders": "code",
    "apache2ctl": "apachectl",
    "django-admin": "manage.py",
    "zkcli.sh": "zkcli",
    "go-task": "task",
    "mariadb": "mysql",
}
_SCRIPTS = re.compile(r"(?P<name>kafka-[a-z-]+|pulsar-[a-z]+)\.sh")
_TWO = {name: name.split("-") for name in ("docker-compose", "podman-compose", "docker-buildx")} | {"shx": []}
"""Programs that are subcommands of others, and those that only take the name of another."""


def with_usual_name(words: Sequence[Word], name: str) -> tuple[str, tuple[Word, ...]]:
    """Return the usual name of a program, and the words of its call; the first word may be replaced.

    Args:
        words: The call; the first is the program.
        name: Its name in lower case, without its folder.
    """
    first, rest = words[0], tuple(words[1:])
    if name in _TWO and (_TWO[name] or rest):
        named = [evolve(first, text=part) for part in _TWO[name]]
        whole = (*named, *rest)
        return whole[0].text.rsplit("/", 1)[-1].lower(), whole
    versioned = _VERSIONS.fullmatch(name) or _EDITORS.fullmatch(name) or _SCRIPTS.fullmatch(name)
    usual = versioned["name"] if versioned is not None else name
    if usual[:1] == "g" and usual[1:] in _GNU:
        usual = usual[1:]
    usual = _SAME.get(usual, usual)
    if _LOADERS.fullmatch(usual):
        usual = "exec"
    return usual, ((evolve(first, text=usual), *rest) if usual != name else (first, *rest))
