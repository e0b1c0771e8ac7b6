"""Write docs/reference/misbehaviour.md from the table of plugins that misbehave, which the journeys run.

Run it with ``uv run python tools/build_misbehaviour_page.py``; with ``--check`` it writes nothing and fails if
something would change.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from one_page import write_or_check

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "misbehaviour.md"

HEAD = """\
<!-- Made by tools/build_misbehaviour_page.py; change it there. -->

# What a plugin cannot do

No plugin can hang pi, or lose what was stored. This page lists what was tried: {rows} plugins, each a kind of code with
a misbehaviour. They run as users install pi, most of them on the full screen and in print mode. After each, pi has
named the plugin, and the next prompt is answered:

- Code that blocks is named with file and line after a second, and interrupted after `hooks.blockTimeout` (10 s), or
  when you press Ctrl+C twice. Its plugin's hooks are no longer called in the session; a hook that may refuse keeps
  refusing.
- A hook that waits is named after two seconds (`hooks.waitingTimeout`); Escape skips it.
- An exception is a failure of the plugin, `SystemExit` and `KeyboardInterrupt` included. What a tool raises is its
  result, for the model. A signal, such as Ctrl+C, still ends pi.
- A forked child that returns into pi is ended.
- A plugin that ends the process is named at once if it calls `os._exit`, and at the next start. That start continues
  the session.
- What a session store could not store is in a private temporary file at the end of the session.

A plugin is not confined by this: it is code in pi's process, see [Trust and security](../security.md).

## Misbehaviours

| misbehaviour | code |
| --- | --- |
"""

KINDS_HEAD = """
## Kinds

| kind of code | its misbehaviours | where |
| --- | --- | --- |
"""


def main() -> int:
    """Write the page, or compare it."""
    sys.path.insert(0, str(ROOT / "tests" / "journeys"))
    table = import_module("journey.hostile")

    codes = "".join(f"| {name} | {_code(each.body)} |\n" for name, each in table.MISBEHAVIOURS.items())
    kinds = "".join(
        f"| {name} | {', '.join(kind.does)} | {', '.join(kind.modes).replace('print', 'print mode')} |\n"
        for name, kind in table.KINDS.items()
    )
    return write_or_check(PAGE, HEAD.format(rows=len(table.ROWS)) + codes + KINDS_HEAD + kinds)


def _code(body: str) -> str:
    lines = body.strip().splitlines()
    return "<br>".join("`" + line.replace("    ", "\N{NO-BREAK SPACE}" * 4).replace("|", "\\|") + "`" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
