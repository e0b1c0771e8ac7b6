"""Questions of a server to the client: user input, a model answer, the workspace folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Asks"]


class Asks:
    """Forwards one server's questions to pi.

    Args:
        spec: pi's description of the server.
        ask: Sends a question to pi and returns its answer.
    """

    def __init__(self, spec: dict[str, Any], ask: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
        self._spec = spec
        self._ask = ask

    def callbacks(self) -> dict[str, Any]:
        """Return the SDK callbacks for the declared capabilities, so that servers ask only what can be answered."""
        found: dict[str, Any] = {"list_roots_callback": self._roots}
        if self._spec.get("ui"):
            found["elicitation_callback"] = self._elicit
        if self._spec.get("sampling"):
            found["sampling_callback"] = self._sample
        return found

    async def _roots(self, _context: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate(
            {"roots": [{"uri": each} for each in self._spec.get("roots") or ()]}
        )

    async def _elicit(self, _context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        question = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        about = {key: question.get(key) for key in ("mode", "message", "requestedSchema", "url")}
        answer = await self._ask({"kind": "elicit", "server": self._spec["server"], **about})
        return types.ElicitResult.model_validate(answer or {"action": "cancel"})

    async def _sample(
        self, _context: Any, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        question = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        about = {key: question.get(key) for key in ("messages", "systemPrompt", "maxTokens")}
        answer = await self._ask({"kind": "sample", "server": self._spec["server"], **about})
        if not answer:
            return types.ErrorData(code=-1, message="The user refused the request.")
        return types.CreateMessageResult.model_validate(
            {"role": "assistant", "content": {"type": "text", "text": answer["text"]}, "model": answer["model"]}
        )
