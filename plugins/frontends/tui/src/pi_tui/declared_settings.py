"""The settings of the full screen; those that all front ends at a terminal have stand in ``pi_terminal_kit``."""

from __future__ import annotations

from typing import Any, Literal

from pi_hookspecs import PluginSetting

__all__ = [
    "ANTHROPIC_EXTRA_USAGE",
    "AUTOCOMPLETE_MAX",
    "COPY_ON_SELECT",
    "DOUBLE_ESCAPE",
    "EXIT_OUTPUT",
    "HARDWARE_CURSOR",
    "HYPERLINKS",
    "IMAGES",
    "IMAGE_WIDTH",
    "MERMAID",
    "MOUSE",
    "OUTPUT_PAD",
    "PROGRESS",
    "SCROLLBAR",
    "SETTINGS",
    "SHOW_IMAGES",
    "TRUE_COLOR",
]


def _switch(name: str, description: str, *, default: bool, **options: Any) -> PluginSetting:
    schema = {"type": "boolean", "default": default}
    return PluginSetting(name, schema=schema, description=description, project=options.pop("project", "set"), **options)


def _choice(
    name: str, description: str, values: list[str | bool], default: str, variable: str | None = None
) -> PluginSetting:
    schema = {"enum": values, "default": default}
    return PluginSetting(name, schema=schema, description=description, project="set", variable=variable)


def _number(name: str, description: str, *, minimum: Literal[0, 1], default: int) -> PluginSetting:
    schema = {"type": "integer", "minimum": minimum, "default": default}
    return PluginSetting(name, schema=schema, description=description, project="set")


EXIT_OUTPUT = _choice(
    "fullscreenExitOutput",
    "What the full screen leaves in the terminal when it ends",
    ["transcript", "resume-hint"],
    "transcript",
)
MOUSE = _switch(
    "fullscreenMouse", "Handle the mouse in the full screen; if false, the terminal handles it", default=True
)
COPY_ON_SELECT = _switch(
    "fullscreenCopyOnSelect", "Copy text in the full screen when the mouse selects it", default=True
)
SCROLLBAR = _choice(
    "fullscreenScrollbar",
    "Scrollbar of the full screen: while scrolled up, always, or never",
    ["auto", "always", "hidden"],
    "auto",
)
OUTPUT_PAD = _number("outputPad", "Empty columns on both sides of answers", minimum=0, default=1)
HARDWARE_CURSOR = _switch(
    "showHardwareCursor",
    "Show the terminal's own cursor, which input methods need",
    default=False,
    variable="PI_HARDWARE_CURSOR",
)
DOUBLE_ESCAPE = _choice("doubleEscapeAction", "What pressing Escape twice does", ["fork", "tree", "none"], "tree")
AUTOCOMPLETE_MAX = _number("autocompleteMaxVisible", "How many suggestions are visible at once", minimum=1, default=5)
SHOW_IMAGES = _switch("terminal.showImages", "Show images if the terminal supports them", default=True)
IMAGES = _choice(
    "terminal.images",
    "Protocol of images; `none` or false draws them with half blocks; `auto` detects it",
    ["auto", "kitty", "iterm2", "none", False],
    "auto",
    "PI_IMAGE_PROTOCOL",
)
IMAGE_WIDTH = _number("terminal.imageWidthCells", "Largest width of an image, in cells", minimum=1, default=80)
HYPERLINKS = _choice(
    "terminal.hyperlinks",
    "Make links clickable (OSC 8); `auto` detects it",
    ["auto", True, False],
    "auto",
    "PI_HYPERLINKS",
)
TRUE_COLOR = _choice(
    "terminal.trueColor",
    "Use all colours, not only 256; `auto` detects it",
    ["auto", True, False],
    "auto",
    "PI_TRUE_COLOR",
)
PROGRESS = _switch(
    "terminal.showTerminalProgress",
    "Show progress in the terminal's tab (OSC 9;4) while pi is working, in the full screen",
    default=False,
)
MERMAID = _choice(
    "markdown.mermaid",
    "Draw Mermaid diagrams: never, when the answer is complete, or when their block is",
    ["off", "final", "streaming"],
    "final",
)
ANTHROPIC_EXTRA_USAGE = _switch(
    "warnings.anthropicExtraUsage",
    "Warn when requests with a sign-in to Anthropic may be billed as extra usage, in the full screen",
    default=True,
    project="enable",
)
_UNUSED = "; accepted in files of the original pi, without effect here"
_ACCEPTED = (
    _switch("collapseChangelog", "Show a short changelog after an update" + _UNUSED, default=False),
    _number("editorPaddingX", "Empty columns on both sides of the editor" + _UNUSED, minimum=0, default=0),
    _switch(
        "terminal.clearOnShrink",
        "Clear lines that are left over when the content shrinks" + _UNUSED,
        default=False,
        variable="PI_CLEAR_ON_SHRINK",
    ),
    PluginSetting(
        "markdown.codeBlockIndent",
        schema={"type": "string", "default": "  "},
        description="Indentation of each line of a code block" + _UNUSED,
        project="set",
    ),
)
"""Settings of the original's files that this screen does not read."""

SETTINGS = (
    EXIT_OUTPUT,
    MOUSE,
    COPY_ON_SELECT,
    SCROLLBAR,
    OUTPUT_PAD,
    HARDWARE_CURSOR,
    DOUBLE_ESCAPE,
    AUTOCOMPLETE_MAX,
    SHOW_IMAGES,
    IMAGES,
    IMAGE_WIDTH,
    HYPERLINKS,
    TRUE_COLOR,
    PROGRESS,
    MERMAID,
    ANTHROPIC_EXTRA_USAGE,
    *_ACCEPTED,
)
