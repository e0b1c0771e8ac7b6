"""``/permissions`` and ``pi permissions``: the decisions of the user that plugins remember, in one list.

This plugin adds those that pi itself remembers: trusted folders, and the approved packages of the project.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.report import print_json, print_lines, say, warn
from pi_cli.words import shorten
from pi_core import TrustStore, below_home, one_line
from pi_hookspecs import Permission, UserError
from pi_terminal_kit.words import is_path, path_end, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import PluginHost
    from pi_hookspecs import PermissionPlace, PiContext

__all__ = ["ApprovedPackages", "TrustedFolders", "run_permissions", "show_permissions"]

_NONE = "No decision is remembered yet."
_REMOVE, _KEEP = "Undo it: ask again next time", "Keep it"
_WIDEST = 60
"""Cells of what was decided about in a list; the page of one decision has all of it."""

_USAGE = """\
Usage: pi permissions [--json]
       pi permissions --remove NUMBER

List the decisions that pi and its plugins remember, and undo one: trusted
folders, rules and folders that an "Always allow" has added, approved MCP
servers and packages. /permissions does the same in a session.

  --remove NUMBER  Undo the decision with this number of the list
  --json           Print a list of objects
  -h, --help       Print this help and exit
"""


class TrustedFolders:
    """Implements ``PermissionStore`` for ``trust.json``."""

    name = "Trusted folders"

    def list(self, place: PermissionPlace) -> Sequence[Permission]:
        """Return the stored decisions.

        Raises:
            UserError: The file cannot be read.
        """
        store = TrustStore(place.settings.agent_dir)
        file = str(store.file)
        decisions = sorted(store.decisions().items())
        return [Permission(folder, what=folder, allowed=trusted, place=file) for folder, trusted in decisions]

    async def remove(self, permission: Permission, place: PermissionPlace) -> None:
        """Remove a decision; it applies from the next start.

        Raises:
            UserError: The file cannot be written.
        """
        TrustStore(place.settings.agent_dir).remember(permission.key, trusted=None)


class ApprovedPackages:
    """Implements ``PermissionStore`` for the packages that the project in the working directory names."""

    name = "Packages of this project"

    def list(self, place: PermissionPlace) -> Sequence[Permission]:
        """Return the approved list, if there is one."""
        from pi_core.host.approved import declared_packages, has_approved_packages

        if not has_approved_packages(place.settings.agent_dir, place.cwd):
            return []
        sources = ", ".join(declared_packages(place.cwd)) or "no packages"
        return [Permission("packages", what=sources, place=str(place.cwd))]

    async def remove(self, permission: Permission, place: PermissionPlace) -> None:
        """Undo the approval: what is installed stays, and the next change of it is asked about."""
        from pi_core.host.approved import forget_packages

        del permission
        forget_packages(place.settings.agent_dir, place.cwd)


async def show_permissions(args: str, ctx: PiContext) -> None:
    """Show the decisions, and let the user undo one after another.

    Raises:
        UserError: There are arguments.
    """
    if args.strip():
        raise UserError(f"/permissions takes no arguments, not {args!r}.")
    while found := await ctx.list_permissions():
        rows = dict(zip(_rows(found), found, strict=True))
        if not ctx.has_ui:
            ctx.ui.notify("\n".join(rows))
            return
        chosen = await ctx.ui.select("Remembered decisions", [*rows])
        if chosen is None:
            return
        await _offer_removal(rows[chosen], ctx)
    ctx.ui.notify(_NONE)


async def _offer_removal(permission: Permission, ctx: PiContext) -> None:
    title = "\n".join([_headline(permission), f"{permission.store}: {permission.place}".rstrip(": ")])
    choices = [_REMOVE, _KEEP] if permission.removable else [_KEEP]
    if await ctx.ui.select(title, choices) == _REMOVE:
        await ctx.remove_permission(permission)
        ctx.ui.notify(f"Undone: {one_line(permission.what)}")


def run_permissions(arguments: Sequence[str], host: PluginHost) -> int:
    """Run the subcommand and return the exit code.

    Raises:
        PiError: A decision cannot be undone.
    """
    from pi_core.plugin_api.permissions import FileSettings, Permissions

    params = parse_strictly(_command(), arguments)
    if params["help"]:
        sys.stdout.write(_USAGE)
        return 0
    cwd = Path.cwd()
    permissions = Permissions(host, cwd, FileSettings(host.settings), None, lambda _plugin, _step, why, _: warn(why))
    found = permissions.all()
    number = params["remove"]
    if number is not None:
        if not 0 < number <= len(found):
            raise UserError(f"There is no decision {number}; pi permissions lists {len(found) or 'none'}")
        asyncio.run(permissions.remove(found[number - 1]))
        say(f"Undone: {one_line(found[number - 1].what)}")
    elif params["json"]:
        print_json([_as_json(each) for each in found])
    elif found:
        print_lines(*(f"{at:>3}  {row}" for at, row in enumerate(_rows(found), 1)))
    else:
        say(_NONE)
    return 0


def _rows(found: Sequence[Permission]) -> list[str]:
    """Return the rows of a table, all different."""
    places = [path_end(one_line(below_home(each.place)), _WIDEST, width_of) for each in found]
    columns = [(_headline(each, _WIDEST), each.store, place) for each, place in zip(found, places, strict=True)]
    widest, store = (max(width_of(row[at]) for row in columns) for at in (0, 1))
    rows: list[str] = []
    for first, second, third in columns:
        row = f"{first}{' ' * (widest - width_of(first))}  {second:<{store}}  {third}".rstrip()
        rows.append(row if row not in rows else f"{row} ({rows.count(row) + 1})")
    return rows


def _headline(permission: Permission, width: int | None = None) -> str:
    what = one_line(below_home(permission.what))
    if width is not None:
        what = path_end(what, width, width_of) if is_path(what) else shorten(what, width)
    return f"{'allowed' if permission.allowed else 'refused'}  {what}"


def _as_json(permission: Permission) -> dict[str, Any]:
    names = ("store", "key", "what", "allowed", "place", "removable")
    return {name: getattr(permission, name) for name in names}


def _command() -> click.Command:
    return click.Command(
        "pi permissions",
        params=[
            click.Option(["--remove"], type=int),
            click.Option(["--json"], is_flag=True),
            *common_options(),
        ],
        add_help_option=False,
    )
