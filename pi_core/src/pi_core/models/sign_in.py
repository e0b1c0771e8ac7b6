"""Signs in to a provider and out; stored credentials change only after a login has succeeded.

Front ends supply the user interface: ``pi auth`` asks in lines of text, the screen in dialogs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pi_hookspecs import PluginError, RequestFailed, UserError, UserInterface

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_core.models.registry import ModelRegistry

__all__ = ["SignInUI", "login", "logout"]

_MOST_USED = (
    "anthropic",
    "openai",
    "openai-codex",
    "google",
    "google-gemini-cli",
    "github-copilot",
    "openrouter",
    "amazon-bedrock",
    "azure-openai-responses",
    "google-vertex",
    "deepseek",
    "mistral",
    "xai",
    "groq",
)
"""Providers that are offered first when the user chooses one; all others follow by name."""

_LONGEST_KEY = 16_384
"""Maximum number of characters; servers do not accept longer headers."""


class SignInUI(UserInterface, Protocol):
    """A user interface that can ask for a secret."""

    @property
    def interactive(self) -> bool:
        """Whether a user can choose."""
        ...

    async def ask_secret(self, question: str) -> str | None:
        """Ask for a text that is not displayed; return None if the user dismisses the dialog."""
        ...


async def login(registry: ModelRegistry, name: str | None, *, key: bool | None, ui: SignInUI) -> None:
    """Sign in, or store a key.

    Args:
        registry: Providers and keys.
        name: The provider; if None, the user chooses one.
        key: Whether to store a key even if the provider has a login; None asks the user if it has both.
        ui: Asks the user.

    Raises:
        PiError: The login failed; stored credentials are unchanged.
    """
    _check_file(registry)
    provider = _known(registry, name) if name is not None else await _chosen(registry, ui)
    if key is None and provider in registry.logins() and _takes_key(registry, provider):
        key = await _prefers_key(ui, provider)
    if provider in registry.logins() and not key:
        credential, done = await _signed_in(registry, ui, provider), f"Signed in to {provider}."
    else:
        credential, done = await _typed(registry, ui, provider), f"The key for {provider} is stored."
    try:
        await registry.auth.set(provider, credential)
    except OSError as error:
        message = f"{str(registry.auth.file)!r} cannot be written ({error.strerror}): nothing was stored."
        raise UserError(message) from error
    ui.notify(f"{done} It is in {registry.auth.file}; pi auth logout {provider} removes it.")


async def logout(registry: ModelRegistry, name: str | None, *, ui: SignInUI) -> None:
    """Delete a provider's stored credential; arguments as in ``login``.

    Raises:
        UserError: No provider is named, it is unknown and nothing is stored for it, or auth.json cannot be written.
    """
    _check_file(registry)
    stored = registry.auth.providers()
    if name is None:
        if stored and ui.interactive:
            name = await ui.select("Forget which credential?", stored)
        if name is None and not stored:
            raise UserError(_stored(stored))
        if name is None:
            raise UserError(f"Name the provider: pi auth logout PROVIDER. {_stored(stored)}")
    provider = next((each for each in stored if each.lower() == name.lower()), None)
    if provider is None:
        if name.lower() not in {each.lower() for each in (*registry.logins(), *registry.get_providers())}:
            raise UserError(f"Nothing is stored for {name!r}, which is no provider. {_stored(stored)}")
        ui.notify(f"Nothing is stored for {name!r}. {_stored(stored)}")
        return
    try:
        await registry.auth.remove(provider)
    except OSError as error:
        message = f"{str(registry.auth.file)!r} cannot be written ({error.strerror}): nothing was removed."
        raise UserError(message) from error
    left = " A key in the environment or in models.json is still used." if registry.is_configured(provider) else ""
    ui.notify(f"The credential of {provider} was removed.{left}")


# Which provider


def _known(registry: ModelRegistry, name: str) -> str:
    """Return a provider's id in its original spelling; a login may be for a provider without models.

    Raises:
        UnknownName: The provider is unknown.
    """
    found = next((each for each in registry.logins() if each.lower() == name.lower()), None)
    return found or registry.provider(name).id


async def _chosen(registry: ModelRegistry, ui: SignInUI) -> str:
    logins = registry.logins()
    if not ui.interactive:
        raise UserError(
            f"Name the provider: pi auth login PROVIDER. These have a login: {', '.join(logins) or 'none'}; for any "
            f"other provider, such as openai or openrouter, an API key is stored (pi help keys lists them)."
        )
    others = [each for each in registry.get_providers() if each not in logins and _takes_key(registry, each)]
    ranks = {each: number for number, each in enumerate(_MOST_USED)}
    names = sorted([*logins, *others], key=lambda each: (ranks.get(each, len(ranks)), each))
    chosen = await ui.select(
        "Which provider do you want to sign in to or store an API key for? The most used come first.", names
    )
    if chosen is None:
        raise UserError("No provider was chosen; nothing has changed.")
    return chosen


async def _prefers_key(ui: SignInUI, provider: str) -> bool:
    with_key = "API key"
    chosen = await ui.select(f"How do you want to sign in to {provider}?", ["account", with_key])
    if chosen is None:
        raise UserError(f"Nothing was chosen for {provider}; nothing has changed.")
    return chosen == with_key


def _takes_key(registry: ModelRegistry, provider: str) -> bool:
    if provider not in registry.get_providers():  # a login without models
        return False
    info = registry.provider(provider)
    return bool(info.key_variables) and not info.keyless


# The credential


async def _signed_in(registry: ModelRegistry, ui: SignInUI, provider: str) -> dict[str, Any]:
    found = registry.host.find("register_logins", provider)
    if found is None:
        raise UserError(f"The plugin with the login of {provider} cannot be loaded. pi plugins shows why.")
    try:
        credential: Mapping[str, Any] = await found.thing.login(ui)
    except RequestFailed as failure:
        message = f"The login to {provider} failed: {str(failure).rstrip('.')}. Run pi auth login {provider} again."
        raise UserError(message) from failure
    if not isinstance(credential, dict) or not credential.get("access"):
        raise PluginError(found.plugin, f"Plugin {found.plugin!r}: its login to {provider} returned no credential.")
    return {**credential, "type": "oauth"}


async def _typed(registry: ModelRegistry, ui: SignInUI, provider: str) -> dict[str, Any]:
    """Ask for a key. It is not echoed, and not checked with a request that would cost money."""
    info = registry.provider(provider)
    if info.keyless:
        raise UserError(f"{info.id} needs no key: there is nothing to sign in to.")
    key = (await ui.ask_secret(f"API key for {provider} (not shown): ") or "").strip()
    if not key:
        piped = "" if ui.interactive else " It can also come from a pipe."
        raise UserError(f"No key was given for {provider}; nothing has changed.{piped}")
    if len(key) > _LONGEST_KEY:
        raise UserError(f"The input for {provider} is too long for a key; nothing has changed.")
    if not key.startswith("!") and not (key.isascii() and key.isprintable() and " " not in key):
        raise UserError(f"The input for {provider} contains characters that a key cannot contain; nothing has changed.")
    return {"type": "api_key", "key": key}


def _stored(providers: list[str]) -> str:
    return f"Stored credentials: {', '.join(providers)}." if providers else "There are no stored credentials."


def _check_file(registry: ModelRegistry) -> None:
    """Raise early if the credential could not be stored afterwards."""
    registry.auth.providers()
    if registry.auth.problem is not None:
        raise UserError(f"{registry.auth.problem} Repair or remove the file first.")
