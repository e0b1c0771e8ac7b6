"""Write examples/README.md: the examples by what people want, with what each of them hooks.

Run it with ``uv run --no-sync python tools/build_examples_page.py``; with ``--check`` it writes nothing and fails if
something would change. A new example is named in ``GROUPS``; its line is the description in its ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from one_page import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

HEAD = """\
<!-- Made by tools/build_examples_page.py; change it there. -->

# Examples

Small plugins to read, try and copy, one for each capability of plugins. Each is a complete distribution with tests.
Start with [keep-trees](keep-trees), or create your own with `pi plugin new`.

In a clone of the repository:

<!-- code: sh
cd "$REPOSITORY"
-->
```sh
pi -e examples/hello/src/pi_hello                # without installing it
uv pip install --python .venv ./examples/hello   # into the clone's environment
uv run --no-sync pi                              # --no-sync keeps it there
uv run --group dev pytest examples/hello -q -n0  # its tests
```

In an installed pi, without a clone:

<!-- skip: next "needs a package index" -->
```sh
pi search example               # the list
pi install example:keep-trees   # copy one, and install the copy
pi remove example:keep-trees    # the copy stays
```

The copy is in `~/.pi/agent/examples`, and yours: change it, then `/reload` or start pi again. pi never overwrites it;
delete the folder to get the original again. It is built with `hatchling`, which comes from your package index.

[ci](ci) has files for CI services, which use [review](review); [cluster](cluster) has files for
[clusters](../docs/cluster.md).

## What they draw

"""
PICTURES = EXAMPLES.parent / "docs" / "pictures" / "examples"

GROUPS = {
    "Refuse, ask, protect": """
        confirm-destructive dirty-repo-guard injection-guard keep-trees no-force-push permission-gate polite-programs
        price-limit project-trust protected-paths read-only sandboxed-commands timed-confirm
    """,
    "Give the model tools": """
        antigravity-image-gen choose-tools dynamic-tools hello numbered-read question questionnaire second-opinion
        structured-output subagent todo tool-override truncated-tool with-deps
    """,
    "Change how tools work": "bash-spawn-hook dev-server inline-bash interactive-shell memory-workspace ssh",
    "Change what the model gets": """
        claude-rules dynamic-resources input-transform input-transform-streaming memory-workspace pirate
        prompt-customizer provider-payload system-prompt-header
    """,
    "Commands and ways of working": """
        auto-commit-on-exit bookmark commands deploy-target file-trigger git-checkpoint git-merge-and-resolve handoff
        plan-mode preset qna reload-runtime review send-user-message session-name shutdown-command summarize
    """,
    "Long conversations": "custom-compaction first-and-last trigger-compact",
    "Models and providers": "custom-provider-anthropic custom-provider-gitlab-duo jev-router router",
    "Draw and listen at the terminal": """
        checklist custom-footer custom-header github-issue-autocomplete message-renderer modal-editor model-status
        notify overlay-qa-tests rainbow-editor rpc-demo snake status-line tic-tac-toe tide-widget titlebar-spinner
        widget-placement working-indicator
    """,
    "Watch": "debug-provider event-bus no-addresses slowest-hook",
}

_MOST = 4
"""Hooks that are named; the rest are counted."""


def main() -> int:
    """Write the page, or check it."""
    folders = {
        file.parent.name: file.parent
        for file in (*EXAMPLES.glob("*/pyproject.toml"), *EXAMPLES.glob("*/pi_plugin.json"))
    }
    grouped = [name for names in GROUPS.values() for name in names.split()]
    wrong = {*folders} ^ {*grouped}
    if wrong:
        print(f"GROUPS and the folders of examples differ: {', '.join(sorted(wrong))}")
        return 1
    parts = [HEAD, *_gallery()]
    for heading, names in GROUPS.items():
        parts.append(f"\n## {heading}\n\n| example | is a plugin | hooks |\n| --- | --- | --- |\n")
        parts += [_row(folders[name]) for name in sorted(set(names.split()))]
    return write_or_check(EXAMPLES / "README.md", "".join(parts))


def _gallery() -> Iterator[str]:
    """Yield a table of two columns with the pictures; those of a row have their names above them."""
    pictures = sorted(PICTURES.glob("*.svg"))
    yield "| | |\n| --- | --- |\n"  # names in the head would look unlike those below
    for number in range(0, len(pictures), 2):
        row = pictures[number : number + 2]
        cells = [f"![What {file.stem} draws](../docs/pictures/examples/{file.name})" for file in row]
        names = [f"**[{file.stem}]({file.stem})**" for file in row]
        yield f"| {' | '.join(names)} |\n"
        yield f"| {' | '.join(cells)} |\n"


def _row(folder: Path) -> str:
    hooks = _hooks(folder)
    shown = ", ".join(f"`{name}`" for name in hooks[:_MOST])
    more = f" and {len(hooks) - _MOST} more" if len(hooks) > _MOST else ""
    return f"| [{folder.name}]({folder.name}) | {_line(folder)} | {shown}{more} |\n"


def _line(folder: Path) -> str:
    file = folder / "pyproject.toml"
    if not file.is_file():
        text = (folder / "README.md").read_text(encoding="utf-8").split("\n\n")[1].replace("\n", " ")
        return text.partition(". ")[0].rstrip(".").removeprefix("A plugin ")
    text = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["description"]
    return re.sub(r"^A plugin for pi,? ", "", text).rstrip(".")


def _hooks(folder: Path) -> list[str]:
    """Return the hooks that an example implements, and what its ``activate`` registers or listens to."""
    found: dict[str, None] = {}
    for file in sorted(folder.rglob("src/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks = {each.id for each in map(_called, node.decorator_list) if isinstance(each, ast.Name)}
                if "hookimpl" in marks:
                    found[node.name] = None
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.args else None
                if node.func.attr == "on" and isinstance(first, ast.Constant):
                    found[str(first.value)] = None
                elif node.func.attr.startswith("register_") and ast.unparse(node.func.value) == "pi":
                    found[f"pi.{node.func.attr}"] = None
    return [name for name in found if name != "activate"] or [*found]


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


if __name__ == "__main__":
    sys.exit(main())
