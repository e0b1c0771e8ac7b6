"""``pi auth``: parses its arguments; each command is defined in a separate module."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.report import say, warn
from pi_cli.words import one_line
from pi_hookspecs import PiError, UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import ModelRegistry, PluginHost

__all__ = ["run_auth"]

_ACTIONS = ("login", "logout", "check", "print-api-key", "print-bearer-token")

_OPTIONS = {
    **dict.fromkeys(("no_browser", "key"), "login"),
    **dict.fromkeys(("json", "credentials", "no_refresh"), "check"),
    "min_expiry": "print-bearer-token",
}
"""The command that each option belongs to."""

_DURATION = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
"""Milliseconds of the units of durations."""

_INVALID = 2
"""Exit code of ``check`` when the state cannot be determined, as for a credential that cannot be used."""

_USAGE = """\
Usage: pi auth
       pi auth login [PROVIDER] [--no-browser] [--api-key]
       pi auth logout [PROVIDER]
       pi auth check [PROVIDER] [--json]
       pi auth check --provider PROVIDER | --model MODEL
                     [--json] [--credentials] [--no-refresh]
       pi auth print-api-key PROVIDER | --model MODEL
       pi auth print-bearer-token PROVIDER | --model MODEL
                     [--min-expiry DURATION]

Without a command, list the providers that can be used, as check does, and exit
with 0.

login    Sign in to a provider; without a sign-in, store its API key. The key is
         read without echo, or from a pipe. It may also be $VARIABLE or
         !command, which are evaluated whenever a key is needed.
logout   Delete the stored login or key of a provider, if there is one.
check    Check whether a provider, or which of all, can be used. An expired
         login is renewed. Exit codes: 0 ready, 1 not ready, 2 invalid: the
         stored login or key cannot be used, or there is no such provider.
         'pi auth list' does the same. With --provider or --model it answers
         as the original pi does, for programs: ready, not_ready or invalid;
         a provider that does not exist is not ready.
print-api-key, print-bearer-token
         Print the key that requests are sent with, or the access token of a
         login; an expired one is renewed first.

  --no-browser  Print the address of the page; do not open a browser
  --api-key     Store an API key even if the provider has a sign-in; also --key
  --json        Print a JSON array of objects with provider, state and detail;
                with --provider or --model one object: status, provider, and
                authType or reason
  --credentials Also print the key or token, if it is ready
  --no-refresh  Do not renew an expired login
  --min-expiry DURATION
                Renew a token that is good for less than this: 90s, 30m, 2h
  --provider PROVIDER
                The provider
  --model MODEL The provider of a model
  -h, --help    Print this help and exit

Logins and keys are stored in auth.json in the agent directory; keys in the
environment need not be stored. HTTPS_PROXY is honoured. PI_OAUTH_URL_<PROVIDER>
is a gateway for sign-in, PI_OAUTH_PORT_<PROVIDER> the port of its callback.
'pi help keys' has more.
"""


def run_auth(arguments: Sequence[str], host: PluginHost) -> int:
    """Run the command and return the exit code.

    Raises:
        PiError: It failed.
    """
    from pi_core import ModelRegistry, register_providers

    if list(arguments[:1]) == ["list"]:
        arguments = ["check", *arguments[1:]]
    overview = not any(each in arguments for each in (*_ACTIONS, "-h", "--help"))
    checks = "check" in arguments[:1]
    try:
        params = parse_strictly(_command(), arguments)
        if params["help"]:
            sys.stdout.write(_USAGE)
            return 0
        if not params["words"]:
            params["words"] = ("check",)
        action, provider = _meant(params)
        registry = ModelRegistry(host, host.settings)
        if action == "check" and (params["provider"] or params["model"]):
            return _answer(registry, provider, params)
        if params["model"]:
            provider = _provider_of(registry, params)
        if provider is None or not _is_known(registry, provider):
            register_providers(host, registry)
        code = asyncio.run(_run(action, registry, provider, params))
    except PiError as error:
        if not checks:
            raise
        say(f"Error: {one_line(str(error))}")
        return _INVALID
    if not overview:
        return code
    say("pi auth login signs in or stores a key; pi auth --help describes all commands.")
    return 0


def _command() -> click.Command:
    return click.Command(
        "pi auth",
        params=[
            click.Option(["--no-browser"], is_flag=True),
            click.Option(["key", "--key", "--api-key"], is_flag=True),
            click.Option(["--json"], is_flag=True),
            click.Option(["--credentials"], is_flag=True),
            click.Option(["--no-refresh"], is_flag=True),
            click.Option(["--min-expiry"], metavar="DURATION"),
            click.Option(["--provider"], metavar="PROVIDER"),
            click.Option(["--model"], metavar="MODEL"),
            *common_options(),
            click.Argument(["words"], nargs=-1),
        ],
        add_help_option=False,
    )


def _meant(params: dict[str, Any]) -> tuple[str, str | None]:
    """Return the command and the provider that the arguments name."""
    action, *names = params["words"]
    if params["provider"] is not None:
        names.append(params["provider"])
    if action not in _ACTIONS:
        raise UnknownName("command of pi auth", action, _ACTIONS, "pi auth --help lists them")
    if len(names) > 1:
        raise UserError(f"pi auth {action} takes one provider, not {len(names)}: {' '.join(names)}")
    if params["model"] and action in ("login", "logout"):
        raise UserError(f"pi auth {action} takes a provider, not a model")
    if action.startswith("print") and not names and not params["model"]:
        raise UserError(f"pi auth {action} needs a provider, as in pi auth {action} anthropic")
    for option, wanted in _OPTIONS.items():
        if params[option] and action != wanted:
            raise UserError(f"--{option.replace('_', '-')} is an option of pi auth {wanted}, not of {action}")
    for option in ("credentials", "no_refresh"):
        if params[option] and not (params["provider"] or params["model"]):
            raise UserError(f"--{option.replace('_', '-')} needs --provider or --model")
    return action, names[0] if names else None


def _provider_of(registry: ModelRegistry, params: dict[str, Any]) -> str:
    """Return the provider of the model that the options name.

    Raises:
        UnknownName: There is no such model.
        UserError: Several models have this name.
    """
    model = f"{params['provider']}/{params['model']}" if params["provider"] else params["model"]
    return registry.match(model).model.provider


def _answer(registry: ModelRegistry, provider: str | None, params: dict[str, Any]) -> int:
    from pi_cli.auth_check import Answer, answer, print_answer

    try:
        provider = _provider_of(registry, params) if params["model"] else provider
    except PiError as error:
        warn(str(error))
        found = Answer("invalid", params["provider"] or params["model"], reason="invalid_state")
    else:
        found = asyncio.run(answer(registry, provider or "", refresh=not params["no_refresh"]))
    return print_answer(found, as_json=params["json"], credentials=params["credentials"])


def _milliseconds(duration: str | None) -> int:
    """Return the milliseconds of a duration such as ``30m``; 0 for None.

    Raises:
        UserError: It is not a duration.
    """
    if duration is None:
        return 0
    found = re.fullmatch(r"(\d{1,9})(ms|s|m|h)", duration.strip())
    if found is None:
        raise UserError(f"--min-expiry takes a number with ms, s, m or h, such as 30m, not {duration!r}")
    return int(found[1]) * _DURATION[found[2]]


def _is_known(registry: ModelRegistry, provider: str) -> bool:
    return provider.lower() in {each.lower() for each in (*registry.logins(), *registry.get_providers())}


async def _run(action: str, registry: ModelRegistry, provider: str | None, params: dict[str, Any]) -> int:
    from pi_cli.terminal_ui import TerminalUI

    try:
        if action == "login":
            from pi_core.models.sign_in import login

            await login(registry, provider, key=params["key"], ui=TerminalUI(browser=not params["no_browser"]))
            return 0
        if action == "logout":
            from pi_core.models.sign_in import logout

            await logout(registry, provider, ui=TerminalUI())
            return 0
        from pi_cli.auth_check import check, print_key

        if action == "check":
            return await check(registry, provider, as_json=params["json"])
        bearer, shortest = action == "print-bearer-token", _milliseconds(params["min_expiry"])
        return await print_key(registry, provider or "", bearer=bearer, min_expiry_ms=shortest)
    finally:
        for problem in (*registry.host.settings.problems, *registry.host.problems, *registry.warnings):
            if problem != registry.auth.problem or action.startswith("print"):  # for the other commands it is the error
                warn(problem)
