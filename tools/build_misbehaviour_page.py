"""Write docs/reference/misbehaviour.md from the table of plugins that misbehave, which the journeys run.

Run it with ``uv run python tools/build_misbehaviour_page.py``; with ``--check`` it writes nothing and fails if
something would change.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from one_page import write_or_check

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "misbehaviour.md"

HEAD = """\
<!-- Made by tools/build_misbehaviour_page.py; change it there. -->

# What a plugin cannot do

No plugin can hang pi, or lose what was stored. This page lists what was tried: {rows} plugins, each a kind of code with
a misbehaviour. They run as users install pi, {screen} of them on the full screen in a terminal, and {printed} in print
mode. After each, pi has said what happened, and the next prompt is answered:

- Code that blocks is named with file and line after a second, and interrupted after `hooks.blockTimeout` (10 s), or
  when you press Ctrl+C twice. Its plugin's hooks are no longer called in the session; a hook that may refuse keeps
  refusing.
- A hook that waits is named after two seconds (`hooks.waitingTimeout`); Escape skips it.
- An exception is a failure of the plugin, `SystemExit` and `KeyboardInterrupt` included. What a tool raises is its
  result, for the model. A signal, such as Ctrl+C, still ends pi.
- A forked child that returns into pi is ended.
- Code that draws on the screen is interrupted in the same way, and no longer called after three failures in a row.
- A plugin that ends the process is named at once if it calls `os._exit`, and at the next start. That start continues
  the session; a plugin that ends pi while it is loaded is left out until it changes.
- A thread that is left when pi exits is named, and pi exits all the same, after five seconds.
- What a session store could not store is in a private temporary file at the end of the session.

A plugin is not confined by this: it is code in pi's process, see [Trust and security](../security.md).

## Misbehaviours

| misbehaviour | code |
| --- | --- |
"""

KINDS_HEAD = """
## Kinds

| kind of code | its misbehaviours | in print mode | on the screen |
| --- | --- | --- | --- |
"""


def main() -> int:
    """Write the page, or compare it."""
    sys.path.insert(0, str(ROOT / "tests" / "journeys"))
    table = import_module("journey.hostile")

    codes = "".join(f"| {name} | {_code(each.body)} |\n" for name, each in table.MISBEHAVIOURS.items())
    kinds = "".join(
        f"| {name} | {', '.join(kind.does)} | {_where(table, name, 'print')} | {_where(table, name, 'screen')} |\n"
        for name, kind in table.KINDS.items()
    )
    counts = {
        "rows": len(table.ROWS),
        "screen": sum(row.is_on_screen for row in table.ROWS),
        "printed": sum(row.is_printed for row in table.ROWS),
    }
    return write_or_check(PAGE, HEAD.format(**counts) + codes + KINDS_HEAD + kinds)


def _where(table: Any, name: str, mode: str) -> str:
    """Return which misbehaviours of a kind are tried in a mode, or why none are."""
    if mode not in table.KINDS[name].modes:
        return f"none: {table.KINDS[name].why}"
    rows = [row for row in table.ROWS if row.kind == name]
    tried = [row.does for row in rows if (row.is_printed if mode == "print" else row.is_on_screen)]
    return "all" if len(tried) == len(rows) else ", ".join(tried)


def _code(body: str) -> str:
    lines = body.strip().splitlines()
    return "<br>".join("`" + line.replace("    ", "\N{NO-BREAK SPACE}" * 4).replace("|", "\\|") + "`" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
