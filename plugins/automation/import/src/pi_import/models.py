"""Models and providers of other agents as settings and as entries of models.json; keys are never copied."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs import THINKING_LEVELS, UserError
from pi_hookspecs.secrets import is_secret_name
from pi_import.changes import Entry, Setting
from pi_import.steps import Step, decide, left_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_core import ModelRegistry
    from pi_import.place import Place

__all__ = [
    "PROVIDERS",
    "Models",
    "key_of",
    "sign_in",
    "take_headers",
    "take_key",
    "take_level",
    "take_provider",
    "take_variables",
    "variable_in",
]

PROVIDERS = {
    "gemini": "google",
    "vertex_ai": "google-vertex",
    "bedrock": "amazon-bedrock",
    "azure": "azure-openai-responses",
    "github_copilot": "github-copilot",
    "xai": "xai",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "lm_studio": "lmstudio",
    "ollama_chat": "ollama",
    "nvidia_nim": "nvidia",
    "moonshot": "moonshotai",
    "moonshotai": "moonshotai",
}
"""Names of providers in LiteLLM, which aider uses, and in opencode, where pi has another name."""

_VARIABLE = re.compile(r"\{env:(\w+)\}|\$\{(\w+)\}|\$(\w+)")


class Models:
    """The models that pi knows.

    Args:
        registry: Finds models by name.
    """

    def __init__(self, registry: ModelRegistry) -> None:
        self._registry = registry

    def take(
        self,
        place: Place,
        name: Any,
        source: str,
        *,
        provider: str | None = None,
        added: bool = False,
        alias: str | None = None,
    ) -> Iterator[Step]:
        """Yield the step for the model that another agent uses.

        Args:
            place: Where it is.
            name: Its name there: an id, ``provider/id``, or an alias such as ``opus``.
            source: Where it is, in words.
            provider: Its provider, as pi calls it; None if the name has it, or if any provider will do.
            added: Whether the provider is one that is imported, and so not known yet.
            alias: The name there, if ``name`` is what it stands for.
        """
        if not isinstance(name, str) or not name.strip():
            return
        wanted, why = name.strip().removesuffix("[1m]"), ""
        if provider is None and "/" in wanted:
            provider, wanted = wanted.split("/", 1)
            provider = PROVIDERS.get(provider, provider)
        if not added:
            try:
                found = self._registry.match(f"{provider}/{wanted}" if provider else wanted)
            except UserError:
                found = None
            model = getattr(found, "model", None)
            if model is None:
                why = "pi has no model of this name; pi --list-models lists all"
                yield left_out("model", alias or name, source, why, scope=place.scope)
                return
            provider, wanted = model.provider, model.id
            why = f"as {provider}/{wanted}" if (alias or name) not in (wanted, f"{provider}/{wanted}") else ""
            listed = self._registry.provider(provider)
            if listed.models and listed.model(wanted) is None:
                why = f"pi does not list this model of {provider}; it uses the name as it is"
        file = place.target / "settings.json"
        scope = place.settings_scope
        yield decide(
            "model",
            alias or name,
            source,
            Setting(place.settings, scope, file, "defaultModel", wanted),
            scope=place.scope,
            why=why,
        )
        yield decide(
            "provider",
            str(provider),
            source,
            Setting(place.settings, scope, file, "defaultProvider", provider),
            scope=place.scope,
        )


def take_level(place: Place, level: Any, source: str) -> Iterator[Step]:
    """Yield the step for a reasoning effort."""
    if not isinstance(level, str) or not level:
        return
    ours = {"none": "off"}.get(level, level)
    if ours not in THINKING_LEVELS:
        yield left_out("setting", f"effort {level}", source, "pi has no such level", scope=place.scope)
        return
    change = Setting(place.settings, place.settings_scope, place.target / "settings.json", "defaultThinkingLevel", ours)
    why = f"as {ours}" if ours != level else ""
    yield decide("setting", f"effort {level}", source, change, scope=place.scope, why=why)


def take_provider(place: Place, name: str, entry: dict[str, Any], source: str, notes: list[str]) -> Step:
    """Return the step for a provider of models.json, which is the user's alone."""
    change = Entry(place.target / "models.json", ("providers", name), entry)
    return decide("provider", name, source, change, scope=place.scope, why="; ".join(notes))


def variable_in(value: Any) -> str | None:
    """Return the variable that a text consists of: ``{env:NAME}``, ``${NAME}`` or ``$NAME``; None for other values."""
    found = _VARIABLE.fullmatch(value.strip()) if isinstance(value, str) else None
    return next((each for each in found.groups() if each), None) if found is not None else None


def key_of(value: Any, variable: str) -> tuple[str | None, str]:
    """Return a key in the form of models.json, and what differs; a key that is written out is never copied.

    Args:
        value: The key there: a variable, or the key itself.
        variable: A variable that the user can set instead.
    """
    if not isinstance(value, str) or not value:
        return None, ""
    named = variable_in(value)
    if named is not None:
        return f"${named}", ""
    return f"${variable}", f"its key is not copied: set {variable}, or sign in with pi auth login"


def take_headers(found: Any, notes: list[str]) -> dict[str, str]:
    """Return headers whose values are no secrets; variables are kept as ``$NAME``."""
    headers: dict[str, str] = {}
    for name, value in found.items() if isinstance(found, dict) else ():
        variable = variable_in(value)
        if variable is not None:
            headers[str(name)] = f"${variable}"
        elif isinstance(value, str) and not is_secret_name(str(name)):
            headers[str(name)] = value
        else:
            notes.append(f"the header {name!r} is not copied, because it may be a secret")
    return headers


def take_key(place: Place, name: str, provider: str, source: str) -> Step:
    """Return the step for a key that another agent has stored."""
    return left_out("key", name, source, f"keys are not copied: {sign_in(provider)}", scope=place.scope)


def sign_in(provider: str) -> str:
    """Return how to sign in to a provider."""
    return f"sign in with pi auth login {provider}"


def take_variables(place: Place, variables: Mapping[str, Any], source: str) -> Iterator[Step]:
    """Yield the steps for variables that another agent sets for itself and its programs."""
    from pi_hookspecs.secrets import is_secret_variable

    for name, value in variables.items():
        if is_secret_variable(str(name), str(value)):
            provider = next((each for part, each in _KEYS if part in str(name).upper()), None)
            how = sign_in(provider) if provider else "set it in your shell"
            yield left_out("key", str(name), source, f"keys are not copied: {how}", scope=place.scope)
        else:
            why = "pi sets no variables for itself; set it in your shell"
            yield left_out("setting", f"env {name}", source, why, scope=place.scope)


_KEYS = (
    ("ANTHROPIC", "anthropic"),
    ("OPENAI", "openai"),
    ("GEMINI", "google"),
    ("GOOGLE", "google"),
    ("OPENROUTER", "openrouter"),
    ("DEEPSEEK", "deepseek"),
    ("MISTRAL", "mistral"),
    ("GROQ", "groq"),
)
