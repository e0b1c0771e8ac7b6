"""The settings ``llamacpp.*``, which only the user's own file may have: they name files outside of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_core import expand_home
from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import SettingsView

__all__ = ["SETTINGS", "Options", "read_options"]

_CONTEXT = 32_768
_IDLE_MINUTES = 10
_LEAST_CONTEXT = 512

_PATHS = PluginSetting(
    "llamacpp.paths",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="GGUF files and folders of them, in addition to the caches of Hugging Face, LM Studio and Ollama",
    protected=True,
    project="nothing",
)
_TOKENS = PluginSetting(
    "llamacpp.contextTokens",
    schema={"type": "integer", "minimum": _LEAST_CONTEXT, "default": _CONTEXT},
    description="Context window of local models in tokens, at most what a model was trained for; it costs memory",
    protected=True,
    project="nothing",
)
_IDLE = PluginSetting(
    "llamacpp.idleMinutes",
    schema={"type": "number", "minimum": 1, "default": _IDLE_MINUTES},
    description="Minutes without a request after which a local model leaves memory",
    protected=True,
    project="nothing",
)
SETTINGS = (_PATHS, _TOKENS, _IDLE)


@frozen
class Options:
    """The settings.

    Attributes:
        paths: Files and folders of the user.
        context_tokens: The largest context window.
        idle_seconds: How long a model without requests stays loaded.
        problems: What is wrong with the settings, as sentences.
    """

    paths: tuple[Path, ...] = ()
    context_tokens: int = _CONTEXT
    idle_seconds: float = _IDLE_MINUTES * 60.0
    problems: tuple[str, ...] = field(default=())


def read_options(settings: SettingsView) -> Options:
    """Return the settings; a value that makes no sense is left out and reported."""
    problems: list[str] = []

    def own(setting: PluginSetting, wanted: str, fits: Any) -> Any:
        found = None
        for place, value in settings.each(setting.name):
            if fits(value):
                found = value
            else:
                problems.append(f"{place}: {setting.name} is {value!r}; it must be {wanted}.")
        return found

    paths = own(_PATHS, "a list of strings", lambda value: isinstance(value, list) and all(map(_is_text, value)))
    tokens = own(
        _TOKENS, f"a whole number of at least {_LEAST_CONTEXT}", lambda value: _is_from(value, _LEAST_CONTEXT, int)
    )
    minutes = own(_IDLE, "a number of at least 1", lambda value: _is_from(value, 1, int | float))
    return Options(
        paths=tuple(expand_home(each) for each in paths or ()),
        context_tokens=tokens or _CONTEXT,
        idle_seconds=(_IDLE_MINUTES if minutes is None else minutes) * 60.0,
        problems=tuple(problems),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_from(value: Any, least: int, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and value >= least
