"""Write docs/reference/typescript-members.md: each member of the original's extension API, and whether it works here.

``python tools/typescript_members.py --declarations FOLDER`` reads the type declarations of an installed original (the
folder of ``@earendil-works/pi-coding-agent``) and stores the names of its members in ``typescript_members.json``;
without options it writes the page from those and from ``DIFFERENT``; with ``--check`` it writes nothing and fails if
something would change. A test of the plugin ``typescript`` registers an extension that looks for each of them, so a row
that is wrong here fails there.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from one_page import write_or_check

ROOT = Path(__file__).resolve().parent.parent
STORED = Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "reference" / "typescript-members.md"

HEAD = "<!-- Made by tools/typescript_members.py; change DIFFERENT there. -->"

OBJECTS = {
    "ExtensionAPI": ("core/extensions/types.d.ts", "pi"),
    "ExtensionContext": ("core/extensions/types.d.ts", "ctx"),
    "ExtensionCommandContext": ("core/extensions/types.d.ts", "ctx of a command"),
    "ExtensionToolContext": ("core/extensions/types.d.ts", "ctx of a tool"),
    "ExtensionUIContext": ("core/extensions/types.d.ts", "ctx.ui"),
    "ReadonlySessionManager": ("core/session-manager.d.ts", "ctx.sessionManager"),
    "ModelRegistry": ("core/model-registry.d.ts", "ctx.modelRegistry"),
    "ToolRenderContext": ("core/extensions/types.d.ts", "context of a renderer"),
}
"""Interfaces whose members an extension uses: the file that declares each, and what the page calls it."""

_SOON = "comes with the next event that the extension gets"
_EMPTY = "there, and always undefined"
DIFFERENT: dict[str, tuple[bool, str]] = {
    "pi.registerMarkdownTransformer": (
        True,
        "accepted, without an effect; pi says so at the first load",
    ),
    "pi.registerProvider": (True, "`refreshModels` is not called: list the models"),
    "pi.registerToolRenderer": (
        True,
        "asked in advance for each tool; `next()` gives no built-in renderers",
    ),
    "pi.registerVirtualModel": (True, "needs a provider of its own, which has one virtual model"),
    "pi.exec": (True, "`maxBuffer` cuts the output when the program has ended, and does not end it"),
    "pi.sendUserMessage": (True, "`expandPromptTemplates` is ignored"),
    "ctx.scopedModels": (True, "without thinking levels"),
    "ctx of a command.newSession": (True, "`setup` is refused; use `withSession`"),
    "ctx of a tool.executeTool": (True, "`onUpdate` is not called"),
    "ctx.modelRegistry.getProviderAuthStatus": (False, "use `hasConfiguredAuth`"),
    "ctx.modelRegistry.getProvider": (False, "providers are objects of pi's process"),
    "ctx.modelRegistry.getProviderAuth": (False, "use `getApiKeyForProvider`"),
    "ctx.modelRegistry.isUsingOAuth": (False, ""),
    "ctx.modelRegistry.classify": (False, "another form here: `models.classify` of [ctx](../hooks/ctx.md)"),
    "ctx.modelRegistry.generateImages": (False, "another form here: `models.generate_image` of [ctx](../hooks/ctx.md)"),
    "ctx.modelRegistry.getProviderDisplayName": (True, "the id, except of providers that extensions register"),
    "ctx.modelRegistry.stream": (True, "one event, the last"),
    "ctx.modelRegistry.streamSimple": (True, "one event, the last"),
    "ctx.modelRegistry.refresh": (True, "does nothing"),
    "context of a renderer.durationMs": (True, _EMPTY),
    "context of a renderer.outputPad": (True, "always 1"),
    "project_trust": (False, "never emitted: asked before there is a process"),
    "cache_warming_decision": (False, "never emitted: [the hook](../hooks/cache_warming_decision.md) has other fields"),
    "session_info_changed": (True, _SOON),
    "context_with_system.messages": (True, "the system prompt is one message"),
    "before_provider_headers.headers": (
        True,
        "those that plugins have added; null also removes a configured one",
    ),
    "turn_end.context": (True, "`pendingMessages` is empty"),
    "agent_before_settle.context": (True, "`pendingMessages` is empty"),
    "tool_result.structuredContent?": (False, "in `details`"),
}
"""Members and fields that differ, as ``pi.name`` or ``event.field``: whether they are there, and what is different."""


def members_of(text: str, name: str) -> list[str]:
    """Return the members of an interface or class, with those that it inherits in the same file."""
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    picked = re.search(rf"type {name}(?:<[^=]*>)? = Pick<(\w+), ([^>]*)>", plain)
    if picked is not None:
        return re.findall(r'"(\w+)"', picked[2])
    head = re.search(
        rf"(?:interface|class) {name}(?:<[^{{]*>)?(?: extends ([\w, <>]+?))?(?: implements [^{{]+)? \{{", plain
    )
    if head is None:
        return []
    inherited = [each for base in re.findall(r"[A-Z]\w+", head[1] or "") for each in members_of(plain, base)]
    found = [each for each in _top_level(plain[head.end() :]) if each not in ("constructor", "type")]
    return list(dict.fromkeys([*inherited, *found]))


def _top_level(text: str) -> list[str]:
    """Return the names of the members of a body, up to the brace that ends it."""
    depth, start, names = 0, 0, []
    for index, character in enumerate(text):
        if character in "{([":
            if depth == 0 and character == "(" and (name := _name(text[start:index])):
                names.append(name)
                start = len(text)
            depth += 1
        elif character in "})]":
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and character in ":=" and start < index and (name := _name(text[start:index])):
            names.append(name)
            start = len(text)
        elif depth == 0 and character == ";":
            start = index + 1
    return names


def _name(head: str) -> str | None:
    found = re.fullmatch(
        r"\s*(?!private|protected|static)(?:readonly |get |async )?(\w+\??)\s*(?:<.*)?", head, re.DOTALL
    )
    return found[1] if found else None


def declared(folder: Path) -> dict[str, Any]:
    """Return the members of each object and the fields of each event that declarations name."""
    dist = folder / "dist"
    texts = {file: (dist / file).read_text(encoding="utf-8") for file, _ in OBJECTS.values()}
    objects = {title: members_of(texts[file], name) for name, (file, title) in OBJECTS.items()}
    types = re.sub(r"/\*.*?\*/", "", texts["core/extensions/types.d.ts"], flags=re.DOTALL)
    events: dict[str, list[str]] = {}
    handled = re.findall(r'on\(event: "(\w+)", handler: (?:ExtensionHandler<(\w+)|(\w+))', types)
    warmer = (dist / "core/cache-warmer.d.ts").read_text(encoding="utf-8")
    for event, named, other in handled:
        name = named or other.replace("Handler", "Event")
        union = re.search(rf"type {name} = ([^;]+);", types)
        classes = re.findall(r"\w+", union[1]) if union else [name]
        fields = [each for one in classes for each in members_of(types, one) or members_of(warmer, one)]
        events[event] = list(dict.fromkeys(fields))
    version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
    return {"version": version, "objects": objects, "events": events}


def stored() -> dict[str, Any]:
    """Return what ``declared`` has found in the original."""
    found: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def rows() -> list[tuple[str, bool, str]]:
    """Return each member and field: its name, whether it is there, and what is different."""
    known = stored()
    plain = [
        f"{title}.{name}" for kind in ("objects", "events") for title, each in known[kind].items() for name in each
    ]
    unknown = DIFFERENT.keys() - {*plain, *known["events"]}
    if unknown:
        raise SystemExit(f"no such members: {', '.join(sorted(unknown))}")
    return [(name, *DIFFERENT.get(name, DIFFERENT.get(name.partition(".")[0], (True, "")))) for name in plain]


def wrong_rows(found: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return the rows that what an extension has found contradicts."""
    seen = {f"{title}.{name}" for kind in found.values() for title, names in kind.items() for name in names}
    looked = {title for kind in found.values() for title in kind}
    return [
        f"{name}: {'missing' if there else 'there'}"
        for name, there, _ in rows()
        if name.rpartition(".")[0] in looked
        and there != (name.removesuffix("?") in seen)
        and not (there and name.endswith("?"))  # an optional field need not be in an event
    ]


def page() -> str:
    """Return the text of the page."""
    known, found = stored(), rows()
    works = sum(there and not note for _, there, note in found)
    missing = sum(not there for _, there, _ in found)
    about = (
        f"Each member and field that the type declarations of version {known['version']} of the original name, for"
        f" [extensions\nin TypeScript](../typescript.md). Of {len(found)}, {works} are there and work,"
        f" {len(found) - works - missing} work\nwith a difference, and {missing} are missing."
    )
    lines = [f"{HEAD}\n# Members of the original's extension API", about]
    for heading, of_events in (("Objects", False), ("Events", True)):
        table = [
            f"| `{name}` | {'' if there else 'missing'}{': ' if note and not there else ''}{note} |"
            for name, there, note in found
            if (name.partition(".")[0] in known["events"]) == of_events
        ]
        lines.append(f"## {heading}\n\n| member | difference |\n| --- | --- |\n" + "\n".join(table))
    return "\n\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Do what the module's docstring says; return the exit code."""
    if arguments[:1] == ["--declarations"]:
        found = declared(Path(arguments[1]).expanduser())
        STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return write_or_check(PAGE, page())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
