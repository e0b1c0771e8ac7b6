"""Which processes a command kills: one that it started, one that it names, or more than intended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails.wrappers import READ_BY_XARGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["kill", "kill_by_name"]

_OWN = re.compile(r"[\"']?\$(!|\{!\})[\"']?")
"""The last command that the script started in the background."""

_LOOKED_UP = re.compile(
    r"[\"']?\$\(\s*(lsof|fuser|pidof|pgrep|cat [\w./-]+\.pid|jobs -p)\b(?P<rest>[^$`;&<>()|]*)\)[\"']?"
)
_SIGNAL = re.compile(r"-(s|-signal=?|\d+|[A-Z]{2,}\d*)")
_ALIKE = {"pgrep": "pkill", "pidof": "killall"}
_WITH_VALUE = frozenset("-s --signal -o -y --older-than --younger-than".split())
_BY_OWNER = ("-u", "-U", "-g", "-G", "-t", "-P", "-v", "--user", "--euid", "--uid", "--group", "--session", "--inverse")
_SHORTEST = 3
_LONGEST = 200
_IMPORTANT = (
    *"pi python python3 node java ruby php bash zsh sh fish sshd ssh login systemd init launchd dockerd docker tmux "
    "screen Xorg gnome-shell dbus-daemon code cursor containerd NetworkManager WindowServer Finder".split(),
    "/usr/bin/python3 /usr/local/bin/pi",
    "python3 -m pi_cli",
)
"""Programs that run important processes, including this agent: by name, and by command line for ``-f``."""


def kill(call: Call) -> Iterator[Judgement]:
    """Yield findings about ``kill``."""
    texts = call.texts
    if {"0", "1"} & set(texts):
        yield "ask", "processes", "it ends the init process, or a whole process group"
    if "-1" in texts[1:] or ("--" in texts and "-1" in texts[texts.index("--") :]):
        yield "ask", "processes", "it ends every process that it is allowed to"
    for word in call.arguments:
        written, *values = call.sources(word)
        if word.source == READ_BY_XARGS and len(call.command.feeds) == 1:
            values = [f"$({call.command.feeds[0]})"]
        if not word.known and not all(_is_certain(source) for source in values or [written]):
            yield "ask", "processes", "which process it ends is known only at run time"


def kill_by_name(call: Call) -> Iterator[Judgement]:
    """Yield findings about ``pkill`` and ``killall``: names of many processes, and of important ones."""
    names = [
        word
        for before, word in zip(("", *call.texts), call.arguments, strict=False)
        if not word.text.startswith("-") and before not in _WITH_VALUE
    ]
    like = "pkill" if call.has_letter("r") else call.name
    others = any(word.text.startswith(_BY_OWNER) and not _SIGNAL.fullmatch(word.text) for word in call.arguments)
    if others or not names or any(not word.known or _means_more(like, word.text) for word in names):
        yield "ask", "processes", "it ends processes by name, perhaps others than intended"


def _is_certain(source: str) -> bool:
    looked_up = _LOOKED_UP.fullmatch(source)
    if looked_up is None:
        return _OWN.fullmatch(source) is not None
    program, rest = looked_up[1], looked_up["rest"].split()
    if program in ("pgrep", "pidof"):
        named = [each for each in rest if not each.startswith("-")]
        by_owner = any(each.startswith(_BY_OWNER) for each in rest)
        return len(named) == 1 and not by_owner and not _means_more(_ALIKE[program], named[0])
    return program not in ("lsof", "fuser") or any(re.search(r":\d+$|^\d+/(tcp|udp)$", each) for each in rest)


def _means_more(name: str, pattern: str) -> bool:
    pattern = pattern.strip("\"'")
    if name == "killall":
        return pattern in _IMPORTANT
    if not _SHORTEST <= len(pattern) <= _LONGEST or re.search(r"[*+{]", pattern):
        return True
    try:
        return any(re.search(pattern, each) for each in _IMPORTANT)
    except re.error:
        return True
