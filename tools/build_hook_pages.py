"""Write docs/hooks (a page for each hook, and their index) and docs/events (a sample event for each that gets one).

Everything comes from the specifications, the classes of events and answers, and docs/hooks/examples. Run it with
``uv run python tools/build_hook_pages.py``; with ``--check`` it writes nothing and fails if something would change.
"""

from __future__ import annotations

import json
import re
import sys
from inspect import getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from described import cell, describe, markdown

import pi_hookspecs
from pi_core.wire import to_wire
from pi_hookspecs import answers_of
from pi_hookspecs.samples import sample_event, sampled_hooks
from pi_hookspecs.specs import all_hookspecs, spec_modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_hookspecs import Answers

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES, EVENTS = DOCS / "hooks", DOCS / "events"
LABELS = ("When", "Answers", "On error", "Since")
CONTEXT = {
    "PiContext": "In hooks and commands",
    "ToolContext": "In tools, all of this and",
    "StartContext": "Before there is a session",
    "FullUserInterface": "`ctx.ui`",
    "SessionView": "`ctx.session`",
    "Sessions": "`ctx.sessions`",
    "ChangeableSettings": "`ctx.settings`",
    "SecretValues": "`ctx.secrets`",
    "ModelCatalog": "`ctx.models`",
    "ResourceLoader": "`ctx.resources`",
    "Processes": "`ctx.processes`",
    "ManagedProcess": "One of `ctx.processes`",
}
"""What ``ctx.md`` describes, under which heading."""

TEST = "\n\n# Test\n"
"""In an example, the line between the plugin and the test that proves that it works."""

INDEX = """\
<!-- Made by tools/build_hook_pages.py; change the text there, the rest in hookspecs/src/pi_hookspecs/specs. -->

# Hooks

A plugin is a module (or an object) whose functions are named after hooks and marked with `@hookimpl`. [The
tutorial](../first-plugin.md) builds one in ten minutes. [Values](../values.md) lists the fields of the objects that
hooks and `ctx` provide. [Write a provider](../providers.md) builds a provider with
[pluggypi-provider-kit](../../plugins/kits/provider-kit/README.md); `pi plugin new NAME --kind provider` creates one to
start from.

- **Registration hooks** are plain functions, called once when the plugin is loaded; they return lists.
- **Event hooks** take `event`, [`ctx`](ctx.md) or both, and may be `def` or `async def`. The same handlers
  can be added with `pi.on("tool_call", ...)` in [`activate`](activate.md).

```text
$ pi hooks                                    every hook, and how many plugins implement it
$ pi hooks tool_call                          one hook, with its plugins in call order
$ pi hooks fire tool_call                     call it with a sample event: the answer of each plugin, and its time
$ pi hooks fire tool_call --event FILE.json   the same with an event of yours; docs/events has samples
```

## How answers combine

| rule | meaning |
| --- | --- |
| notify | every plugin is called, answers are ignored |
| collect | all answers, in order |
| first | the first answer that is not None wins |
| pipe | each plugin receives the result of the one before |
| veto | the first refusal wins, and later plugins are not called |

A rule applies to the whole answer, or to each field of its class. A plugin that raises, exceeds the deadline or
returns a wrong type is reported by name; each hook's page describes the effect on the answer. After three errors in
a row the plugin is no longer called, unless an error in the hook counts as a refusal: then it keeps refusing.
"""

DIAGRAM = """\
## When each of them fires

The life of a session:

```text
pi starts
 |  register_flags, register_modes, register_subcommands, ...   once per load; names come from the index
 |  project_trust                 only if the project has files of its own
 |  activate                      once per session
 |  session_start
 |  resources_discover            and at every reload
 |
 |  ... prompts, see below ...
 |
 |  model_select, thinking_level_select       when the user or a plugin changes them
 |  mcp_servers_change                        when plugins register or remove MCP servers
 |  commands_discover                         when a front end lists what begins with a slash
 |  user_bash                                 a shell command of the user: !ls
 |  child_environment                         before a program is started: by a tool, the user, a plugin
 |  cache_warming_decision                    before a provider's cache would drop the prompt
 |  ui_prompt_start -> ui_prompt_end           pi waits for the user, in a dialog of a plugin
 |  complete_mention                          while the user types @...
 |  a plugin creates a session for a task
 |     child_session_start -> child_session_update -> child_session_end
 |
 |  session_before_append                     before entries of a stored session go to its store
 |
 |  /compact, or the window is nearly full
 |     session_before_compact -> session_compact, or session_compact_failed
 |  /tree
 |     session_before_tree -> session_tree
 |  /new, /resume
 |     session_before_switch -> session_shutdown -> session_switch -> session_start -> resources_discover
 |  /fork
 |     session_before_fork -> session_shutdown -> session_fork -> session_start -> resources_discover
 |
 |  session_shutdown
pi ends
```

The life of a prompt:

```text
the user sends a prompt
 |  input                         may change or handle it
 |  expand_prompt                 only what begins with a slash: skills, templates
 |  system_prompt                 sections
 |  before_agent_start            messages to add; the system prompt as a whole
 |
 |  agent_start                                                              <-- run ---+
 |   |  turn_start                                               <-- turn ---+          |
 |   |   |  message_start, message_end           of the new messages         |          |
 |   |   |  context                              the messages of the request |          |
 |   |   |  before_model_request                 may refuse the request      |          |
 |   |   |  before_provider_request              the payload                 |          |
 |   |   |  after_provider_response              status and headers          |          |
 |   |   |  provider_stream_event                each event of the stream    |          |
 |   |   |  message_start                        the answer begins           |          |
 |   |   |  message_update                       each delta                  |          |
 |   |   |  model_usage                          tokens, cost, duration      |          |
 |   |   |  message_end                          may change the answer       |          |
 |   |   |                                                                   |          |
 |   |   |  for each call, in the model's order                              |          |
 |   |   |     tool_execution_start                                          |          |
 |   |   |     tool_call                         may refuse or change it     |          |
 |   |   |  the calls run, concurrently if allowed                           |          |
 |   |   |     tool_execution_update             partial results             |          |
 |   |   |     tool_result                       may change the result       |          |
 |   |   |     tool_execution_end                                            |          |
 |   |   |     message_start, message_end        of the result               |          |
 |   |   |                                                                   |          |
 |   |   |  turn_end                             calls or queued messages? --+          |
 |  agent_end                                                                           |
 |  agent_before_settle                        a plugin continues? ---------------------+
 |  agent_settled
the prompt is done
```
"""


def files() -> dict[Path, str]:
    """Return every file that belongs there, and its content."""
    pages = {PAGES / f"{name}.md": "\n".join(_page(name, spec)) + "\n" for name, spec in all_hookspecs().items()}
    samples = {
        EVENTS / f"{name}.json": json.dumps(to_wire(sample_event(name)), indent=2, ensure_ascii=False) + "\n"
        for name in sampled_hooks()
    }
    return {PAGES / "README.md": "\n".join(_index()), PAGES / "ctx.md": "\n".join(_context()), **pages, **samples}


# The index


def _index() -> Iterator[str]:
    yield INDEX
    for module in spec_modules():
        stage = module.__name__.rpartition(".")[2]
        yield f"## {stage.capitalize()}\n\n{(getdoc(module) or '').splitlines()[0]}\n"
        yield "| hook | purpose | answers |\n| --- | --- | --- |"
        for name, spec in all_hookspecs().items():
            if spec.__module__ == module.__name__:
                yield f"| [`{name}`]({name}.md) | {_documented(spec)['summary']} | {_rule(spec)} |"
        yield ""
    yield DIAGRAM


def _rule(spec: Callable[..., Any]) -> str:
    declared = answers_of(spec)
    return str(declared) if declared is not None else _documented(spec)["Answers"].partition(";")[0]


# What every hook gets


def _context() -> Iterator[str]:
    yield "<!-- Made by tools/build_hook_pages.py from pi_hookspecs/context.py; change it there. -->\n\n# ctx\n"
    yield "Event hooks, commands and tools get `ctx` as a second argument: the session, the user, the settings.\n"
    for name, what in CONTEXT.items():
        yield from describe(f"{what}: `{name}`", getattr(pi_hookspecs, name))


# A page


def _page(name: str, spec: Callable[..., Any]) -> Iterator[str]:
    stage = spec.__module__.rpartition(".")[2]
    documented, declared = _documented(spec), answers_of(spec)
    yield f"<!-- Made by tools/build_hook_pages.py from specs/{stage}.py; change it there. -->\n"
    yield f"# {name}({', '.join(signature(spec).parameters)})\n"
    yield f"{documented['summary']}\n"
    if documented["more"]:
        yield f"{documented['more']}\n"
    yield "| property | value |\n| --- | --- |"
    yield f"| signature | `{_signature(name, spec)}` |"
    yield from (f"| {label.lower()} | {documented[label]} |" for label in LABELS if label != "Since")
    if declared is not None:
        yield from _limits(declared)
    yield f"| since | {documented['Since']} |"
    yield from _deprecations(spec)
    yield ""
    yield from _classes(spec, declared)
    yield from _example(name)
    yield from _trying(name, declared)


def _signature(name: str, spec: Callable[..., Any]) -> str:
    parameters = ", ".join(f"{each.name}: {each.annotation}" for each in signature(spec).parameters.values())
    return cell(f"{name}({parameters}) -> {signature(spec).return_annotation}")


def _limits(declared: Answers) -> Iterator[str]:
    yield f"| deadline | {declared.deadline.value:g} s for each plugin |"


def _deprecations(spec: Callable[..., Any]) -> Iterator[str]:
    """Say what of the hook plugins should not use any more."""
    mark = getattr(spec, "pi_deprecated", None)
    if mark is not None:
        yield f"| deprecated | it {cell(str(mark))} |"
    for name, each in getattr(spec, "pi_deprecated_fields", {}).items():
        yield f"| deprecated | `event.{name}` {cell(str(each))} |"


def _classes(spec: Callable[..., Any], declared: Answers | None) -> Iterator[str]:
    """Describe the event and the answer, or what a registration hook returns."""
    taken = signature(spec).parameters
    if "event" in taken:
        yield from _class("The event", taken["event"].annotation)
    if "pi" in taken:
        yield from _class("What it receives", taken["pi"].annotation)
        yield from _class("`pi.events`", "EventBus")
    for name in re.findall(r"\w+", str(signature(spec).return_annotation)):
        if name in pi_hookspecs.__all__:
            yield from _class("The answer" if declared is not None else "What it returns", name, declared)


def _class(heading: str, name: str, declared: Answers | None = None) -> Iterator[str]:
    yield from describe(f"{heading}: `{name}`", getattr(pi_hookspecs, name), declared)


def _example(name: str) -> Iterator[str]:
    text = (PAGES / "examples" / f"{name}.py").read_text(encoding="utf-8")
    plugin, _, test = text.partition(TEST)
    doc = re.match(r'"""(.*?)"""\n+', plugin, re.DOTALL)
    yield f"## Example\n\n{doc[1].strip() if doc else ''}\n"
    yield f"```python\n{plugin[doc.end() if doc else 0 :].strip()}\n```\n"
    yield f"A test, with the fixtures of `pluggypi-testing`:\n\n```python\n{test.strip()}\n```\n"


def _trying(name: str, declared: Answers | None) -> Iterator[str]:
    if declared is None:
        yield f"`pi hooks {name}` lists the installed plugins that implement it."
        return
    yield f"Call it with [a sample event](../events/{name}.json) to see what each plugin answers, and how fast:\n"
    yield f"```text\npi hooks fire {name} --event docs/events/{name}.json\n```"


# Docstrings


def _documented(spec: Callable[..., Any]) -> dict[str, str]:
    """Return the parts of a specification's docstring: ``summary``, ``more``, and what the labelled lines say."""
    summary, _, rest = (getdoc(spec) or "").partition("\n")
    parts = dict.fromkeys(("more", *LABELS), "")
    part = "more"
    for line in rest.splitlines():
        label = next((each for each in LABELS if line.startswith(f"{each}: ")), None)
        if line == "Args:":
            part = "args"
        elif label is not None:
            part, line = label, line.removeprefix(f"{label}: ")  # noqa: PLW2901 - what is left of it
        if part in parts:
            parts[part] += f"{line if part == 'more' else line.strip()}{chr(10) if part == 'more' else ' '}"
    return {"summary": markdown(summary), **{name: markdown(text.strip()) for name, text in parts.items()}}


def main() -> int:
    """Write the files, or check them; return the exit code."""
    wanted = files()
    there = {*PAGES.glob("*.md"), *EVENTS.glob("*.json")}
    if "--check" not in sys.argv[1:]:
        EVENTS.mkdir(exist_ok=True)
        for file, text in wanted.items():
            file.write_text(text, encoding="utf-8")
        for file in there - {*wanted}:
            file.unlink()
        return 0
    stale = [file for file, text in wanted.items() if file not in there or file.read_text(encoding="utf-8") != text]
    for file in sorted({*stale, *(there - {*wanted})}):
        print(f"{file.relative_to(DOCS.parent)} is not what tools/build_hook_pages.py writes; run it")
    return 1 if stale or there - {*wanted} else 0


if __name__ == "__main__":
    sys.exit(main())
