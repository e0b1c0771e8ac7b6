"""The operations that the protocol does not support for a session in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_hookspecs import Completion, FormField, Shortcut

__all__ = ["Limits"]


class Limits:
    """The part of ``Port`` that returns nothing, or refuses with an error that says where the operation is possible."""

    def problems(self) -> Iterable[str]:
        """Return nothing: the other process reports its problems itself."""
        return ()

    async def complete_arguments(self, name: str, typed: str) -> Sequence[Completion]:
        """Return nothing: the protocol has no request for it."""
        del name, typed
        return ()

    async def complete_mention(self, typed: str) -> Sequence[Completion]:
        """Return nothing: the protocol has no request for it."""
        del typed
        return ()

    def walk(self, folder: str) -> Iterable[str]:
        """Yield nothing: the session's files are not accessible here."""
        del folder
        return ()

    def shortcuts(self) -> Sequence[Shortcut]:
        """Return nothing: shortcuts work only in the plugins' own process."""
        return ()

    async def press_key(self, key: str) -> bool:
        """Return False: no plugin runs here."""
        del key
        return False

    def form_values(
        self, fields: Sequence[FormField], entered: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values of a form, and the problems with what was entered."""
        from pi_core.plugin_api.forms import entered_values

        return entered_values(fields, entered)

    def clean(self, text: str) -> str | None:
        """Return None: the plugins that know the secrets run in the other process, so nothing may be written here."""
        del text
        return None

    def acting_plugin(self) -> str | None:
        """Return None: no plugin runs here."""
        return None

    def report_drawing(self, plugin: str | None, message: str, stack: str) -> None:
        """Report nothing: no plugin draws here."""

    def why_no_model(self) -> None:
        """Return None: the other process has a model, or explains why it has none."""

    async def sign_in(self, provider: str | None) -> str | None:
        """Raise ``UserError``: the protocol does not support this."""
        del provider
        raise self.refusal("Signing in")

    async def sign_out(self, provider: str | None) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        del provider
        raise self.refusal("Signing out")

    def providers(self, *, stored: bool = False) -> list[str]:
        """Return nothing: no credentials are accessible here."""
        del stored
        return []

    async def reload(self) -> None:
        """Raise ``UserError``: the protocol does not support this."""
        raise self.refusal("Reloading extensions")

    def refusal(self, what: str) -> UserError:
        """Return the error for an operation that the protocol does not support."""
        return UserError(f"{what} does not work over a connection. Do it where the session runs.")

    async def import_session(self, path: str) -> bool:
        """Raise ``UserError``: the protocol does not support this."""
        del path
        raise self.refusal("Importing a session")
