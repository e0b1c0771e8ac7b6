"""Write docs/settings.md from the declarations of pi's settings and of those of its plugins.

Run it with ``uv run python tools/build_settings_page.py``; with ``--check`` it writes nothing and fails if something
would change.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from one_page import write_or_check

from pi_core import PluginHost, Settings
from pi_core.settings.schema_info import KnownSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.settings.schema_info import Setting

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

HEADINGS = {
    "packages": "Packages",
    "defaultProvider": "Model",
    "steeringMode": "Messages and tools",
    "retry": "Failures",
    "sessionDir": "Sessions",
    "plugins": "Plugins",
    "defaultProjectTrust": "Resources and trust",
    "theme": "Appearance",
}
"""The headings, by the key of the first setting below each."""

HEAD = """\
<!-- Made by tools/build_settings_page.py from pi_core/settings/schema.py and the declarations of plugins. -->

# Settings

Settings are stored as JSON objects in two files: the user's own, `~/.pi/agent/settings.json` (`PI_CODING_AGENT_DIR`
moves the folder), and `.pi/settings.json` in the working directory. Values are taken from, in order of precedence:

1. command-line options
2. environment variables
3. the folder's file, if the folder is trusted
4. the user's own file
5. the default

Objects are merged key by key, lists are replaced, and `null` means not set. If a file cannot be parsed, or a value has
the wrong type, pi reports it in one line with file and line number; all other settings apply. Keys that are not listed
here are kept, because they may belong to a plugin.

```text
$ pi config list                       every value that is set, and its source
$ pi config get retry.maxRetries       the effective value
$ pi config set retry.maxRetries 5     in the user's own file; --project changes the folder's file
$ pi config unset retry.maxRetries
$ pi config schema                     a JSON schema, for editors
```

A program reads settings with `pi_core.Settings.load(folder)`, a plugin with `ctx.settings`. Files are written
atomically and under a lock; concurrent changes by other processes, the order of keys, and unknown keys are preserved.

A running session picks up changes immediately, whether they come from `pi config set`, from a plugin with
[`ctx.settings.set`](policies.md#settings) or from an editor. If a file cannot be parsed at that moment, its previous
values stay in force, with a warning. Settings that are read once at the start, such as the list of disabled plugins,
take effect after `/reload` or a restart. Old forms are migrated: `queueMode` (now `steeringMode`), `websockets` (now
`transport`), and `skills` as an object.

## Trust

A folder may contain files that run code or instruct the model: in `.pi`, the files `settings.json`, `mcp.json`,
`hooks.json`, `agents`, `extensions`, `skills`, `prompts`, `themes`, `SYSTEM.md` and `APPEND_SYSTEM.md`; `.mcp.json`;
`.claude/agents`; and `.agents/skills` in the folder and in its parents, up to the root of the git repository. They are
ignored until the folder is trusted. The first of the following that has an answer decides:

1. `--approve` (`-a`) or `--no-approve` (`-na`), for one run
2. a plugin, in the hook `project_trust`
3. `trust.json` next to the user's own settings, written by `pi trust`: the decision for the folder itself, or else for
   its closest parent. Trust ends where another git repository begins, so a clone inside a trusted
   folder needs its own decision. A [worktree](agents.md#worktrees) that pi creates is trusted if its repository is.
4. the setting `defaultProjectTrust`: `always` or `never`. With `ask`, an interactive front end asks the user; otherwise
   the folder is not trusted, and a line of output lists what was left out.

A folder cannot grant trust to itself: `defaultProjectTrust` is read only from the user's own file.

## What a project may set

Trust in a folder means that its files may add to what pi does; it does not let them loosen what you have set. The
column *project* says what the file of a trusted folder may do to each setting, compared with your own value, or with
the default if you have none:

| project | what its file may do |
| --- | --- |
| yes | set any value |
| no | nothing: only your own file, the environment and the command line |
| only `true`, only `false` | turn it on, or off |
| lower | lower the number, or set one where you have none |
| add | add items to your list; it cannot remove any |
| restrict | the same, with items that allow nothing: no `!name`, no rule whose `action` is `allow` |
| narrow | leave out items of your list |
| stricter: a < b | choose a value that is stricter than yours, in this order |

Anything else is ignored, with a line of output that names the setting and the file. Programs, addresses, the folder of
sessions, policies, and which plugins are used are always yours. A setting that a plugin declares has the same column in
its declaration (`project=`); the settings of pi's own plugins are listed [below](#settings-of-plugins).
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_lines(), *_of_plugins()])


def _lines() -> Iterator[str]:
    seen: set[str] = set()
    for each in KnownSettings():
        key = each.steps[0]
        if key in HEADINGS and key not in seen:
            yield from ("", f"## {HEADINGS[key]}", "", "| setting | type | default | project | what it does |")
            yield "| --- | --- | --- | --- | --- |"
        seen.add(key)
        yield _row(each)
    yield ""


def _of_plugins() -> Iterator[str]:
    """Yield the settings that the plugins of this repository declare."""
    with tempfile.TemporaryDirectory() as folder:
        host = PluginHost(Settings.in_memory(agent_dir=folder))
        declared = [each for each in host.known_settings if each.plugin is not None]
    yield from ("## Settings of plugins", "", "| setting | plugin | type | default | project | what it does |")
    yield "| --- | --- | --- | --- | --- | --- |"
    for each in sorted(declared, key=lambda each: each.name):
        name, *cells = _row(each).removeprefix("| ").split(" | ")
        yield f"| {' | '.join([name, each.plugin or '', *cells])}"
    yield ""


def _row(setting: Setting) -> str:
    default = "" if setting.default is None else f"`{json.dumps(setting.default)}`"
    notes = [f"Variable: `{setting.variable}`."] if setting.variable else []
    what = " ".join([setting.description + ".", *notes])
    return f"| `{setting.name}` | {setting.kind} | {default} | {_project(setting.project.may)} | {what} |"


def _project(may: object) -> str:
    """Return the cell that says what a project's file may do to a setting."""
    if isinstance(may, tuple):
        return f"stricter: {' < '.join(may)}"
    return {"set": "yes", "nothing": "no", "enable": "only `true`", "disable": "only `false`"}.get(str(may), str(may))


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
