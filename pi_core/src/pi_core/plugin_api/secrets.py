"""``ctx.secrets``: the secrets that pi knows, for plugins that redact texts or add secrets of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.agent.safe_text import SHORTEST_SECRET
from pi_core.hooks.acting import acting_plugin
from pi_hookspecs import KnownSecret, PiError, PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from pi_core.host import PluginHost
    from pi_core.models.auth_storage import AuthStorage
    from pi_core.plugin_api.clean_lines import CleanStream
    from pi_hookspecs import SettingsView

__all__ = ["PluginSecrets"]

PROGRAM = "program"
"""The source of secrets that are added outside of plugin code."""


class PluginSecrets:
    """Implements ``SecretValues`` over the keys of a session.

    Args:
        auth: The stored keys and the keys of this process.
        host: The plugin host, whose plugins may provide ``TextRedactor`` services.
        settings: The settings that these services receive.
    """

    def __init__(self, auth: AuthStorage, host: PluginHost, settings: SettingsView) -> None:
        self._auth = auth
        self._host = host
        self._settings = settings

    @classmethod
    def of_host(cls, host: PluginHost) -> Self:
        """Return the secrets that are known outside of a session."""
        from pi_core.models.registry import ModelRegistry

        return cls(ModelRegistry.create(host=host).auth, host, host.settings)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.known())} secrets>"

    def redact(self, text: str) -> str:
        """Return a text with the known secrets replaced."""
        redacted: str = self._auth.redaction().redact_known(text)
        return redacted

    def clean(self, text: str) -> str:
        """Return a text redacted by the ``TextRedactor`` services; if there are none, only known secrets are redacted.

        Raises:
            PiError: A service cannot be loaded or failed; the message does not contain the text.
        """
        if "TextRedactor" not in self._host.service_kinds:
            return self.redact(text)
        for provider in self._host.services("TextRedactor"):
            try:
                cleaned = provider.thing.redact(text, self._settings, self)
            except Exception as error:  # noqa: BLE001 - of a plugin
                raise PiError(_failure(provider.plugin, type(error).__name__)) from None  # it may contain the text
            if not isinstance(cleaned, str):
                raise PiError(_failure(provider.plugin, f"it returned a {type(cleaned).__name__}"))
            text = cleaned
        return text

    def stream(self) -> CleanStream:
        """Return a redactor for a text that arrives in pieces."""
        from pi_core.plugin_api.clean_lines import CleanStream

        return CleanStream(self.clean)

    def add(self, secret: str) -> None:
        """Add a secret on behalf of the plugin whose code is running."""
        source = acting_plugin() or PROGRAM
        if not isinstance(secret, str):  # keep the value out of the message: it may be a secret
            raise PluginError(source, f"a secret must be a string, not {type(secret).__name__}")
        if len(secret) >= SHORTEST_SECRET:
            self._auth.add_secret(secret, source)

    def known(self) -> Sequence[KnownSecret]:
        """Return the known secrets, the longest first."""
        found = sorted(self._auth.known_secrets().items(), key=lambda each: (-len(each[0]), each[1]))
        return [KnownSecret(source=source, value=value) for value, source in found]

    async def resolve(self, value: str) -> str | None:
        """Return the secret to which a configured value resolves."""
        found = await self._auth.resolve(value)
        if found is not None and value.startswith("!"):
            self.add(found)
        return found


def _failure(plugin: str, why: str) -> str:
    return f"Plugin {plugin!r} failed to redact a text, which was therefore not written: {why}"
