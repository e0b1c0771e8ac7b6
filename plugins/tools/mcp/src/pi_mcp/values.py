"""Values of an entry: ``${VAR}``, ``${VAR:-default}`` and ``!command``, expanded just before a server is started."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from pi_core import one_line
from pi_hookspecs import UserError
from pi_hookspecs.secrets import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pi_hookspecs import SecretValues
    from pi_mcp.entries import Server

__all__ = ["MissingVariable", "describe_entry", "expand", "resolve_entry"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_EXPANDED = ("command", "cwd", "url")


class MissingVariable(UserError):
    """A variable that a value needs is not set."""


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with its variables expanded; values are not expanded again.

    Raises:
        MissingVariable: One is not set and has no default.
    """

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        known = environ.get(name)
        if default is not None:
            return known or default
        if known is None:
            raise MissingVariable(
                f"the environment variable {name!r} is not set; set it, or write ${{{name}:-default}}"
            )
        return known

    return _VARIABLE.sub(value, text)


def describe_entry(config: Mapping[str, Any]) -> str:
    """Return all that a user approves with an entry, a line each: what runs, where, with what, and what it is given."""
    lines = [config.get("url") or shlex.join([config["command"], *(config.get("args") or ())])]
    lines += [f"in the folder {config['cwd']}"] if config.get("cwd") else []
    lines += [f"with {name}={value}" for name, value in (config.get("env") or {}).items()]
    lines += [f"with the header {name}: {value}" for name, value in (config.get("headers") or {}).items()]
    lines += [f"with oauth {name}: {value}" for name, value in (config.get("oauth") or {}).items()]
    if config.get("inheritEnv") is True:
        lines.append("with ALL of your environment variables, keys included")
    variables = sorted({found[1] for found in _VARIABLE.finditer(json.dumps(config))})
    if variables:
        lines.append(f"it is given the values of your variables {', '.join(variables)}")
    return "\n".join(map(one_line, lines))


async def resolve_entry(server: Server, environ: Mapping[str, str], secrets: SecretValues) -> dict[str, Any]:
    """Return the part of an entry that the sidecar needs, with all values expanded; the result must not be stored.

    Raises:
        UserError: A variable is missing, or a command failed.
    """

    async def resolve(text: str) -> str:
        if text.startswith("!"):
            return await secrets.resolve(text) or ""
        return expand(text, environ)

    config = server.config
    found: dict[str, Any] = {key: await resolve(config[key]) for key in _EXPANDED if config.get(key)}
    found["args"] = [await resolve(each) for each in config.get("args") or ()]
    for key in ("env", "headers"):
        found[key] = await _resolved_map(config.get(key) or {}, resolve)
        for name, value in found[key].items():
            if is_secret_name(name):
                secrets.add(value)
    oauth = dict(config.get("oauth") or {})
    if isinstance(oauth.get("clientSecret"), str):
        oauth["clientSecret"] = await resolve(oauth["clientSecret"])
        secrets.add(oauth["clientSecret"])
    return {**found, "oauth": oauth}


async def _resolved_map(values: Mapping[str, str], resolve: Callable[[str], Awaitable[str]]) -> dict[str, str]:
    return {name: await resolve(value) for name, value in values.items()}
