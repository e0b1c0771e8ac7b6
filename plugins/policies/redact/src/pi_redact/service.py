"""``TextRedactor``, through which all other texts pass: files, exports, telemetry, logs and indexes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_redact.settings import ENABLED, PATTERNS, STRICT

if TYPE_CHECKING:
    from pi_hookspecs import SecretValues, SettingsView
    from pi_redact.redactor import Redactor

__all__ = ["Funnel"]


class Funnel:
    """Implements ``TextRedactor``; caches the parsed settings until they change."""

    kind = "TextRedactor"

    def __init__(self) -> None:
        self._made: tuple[Any, Redactor] | None = None

    def redact(self, text: str, settings: SettingsView, secrets: SecretValues) -> str:
        """Return the text with marks for secrets; the same object if it has none, or redaction is off."""
        if not text or not ENABLED.read(settings):
            return text
        redactor = self._redactor(settings)
        redactor.know((each.source, each.value) for each in secrets.known())
        return redactor.redact(text)

    def _redactor(self, settings: SettingsView) -> Redactor:
        asked = (settings.agent_dir, *(repr(settings.get(each.name)) for each in (STRICT, PATTERNS)))
        if self._made is None or self._made[0] != asked:
            from pi_redact.key import mark_key
            from pi_redact.options import Options, read_options
            from pi_redact.prefilter import prefilter_of
            from pi_redact.redactor import Redactor

            options = read_options(settings) or Options()
            agent_dir = Path(settings.agent_dir)
            key = mark_key(agent_dir)
            self._made = (
                asked,
                Redactor(key, patterns=options.patterns, strict=options.strict, prefilter=prefilter_of(agent_dir, key)),
            )
        return self._made[1]
