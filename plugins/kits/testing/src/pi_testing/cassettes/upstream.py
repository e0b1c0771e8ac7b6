"""Requests to the real server, while a cassette is recorded. An answer is read completely before it is forwarded."""

from __future__ import annotations

from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.request import HTTPErrorProcessor, HTTPRedirectHandler, Request, build_opener

from pi_hookspecs import RequestFailed
from pi_testing.fake_servers import Answer

if TYPE_CHECKING:
    from pi_testing.fake_servers import Request as Asked

__all__ = ["ask"]

_SECONDS = 120.0
"""How long the server may be silent."""

_OURS = frozenset(("host", "connection", "accept-encoding", "content-length", "transfer-encoding"))
"""Headers that apply to one connection only; they are not copied to ours."""


class _AsItIs(HTTPErrorProcessor, HTTPRedirectHandler):
    """An error is an answer like others, and where it redirects to is the client's business."""

    def http_response(self, request: Any, response: Any) -> Any:
        """Return the answer."""
        return response

    https_response = http_response


def ask(origin: str, request: Asked) -> Answer:
    """Send a request on and return the answer; waits, so it is called in a thread.

    Raises:
        RequestFailed: There was no answer.
    """
    url = f"{origin}{request.path}{'?' if request.query else ''}{request.query}"
    headers = {name: value for name, value in request.headers.items() if name not in _OURS}
    sent = Request(url, data=request.body or None, headers=headers, method=request.method)  # noqa: S310 - as below
    try:
        with build_opener(_AsItIs).open(sent, timeout=_SECONDS) as answer:  # the test determines the server
            body = answer.read()
            kept = {name.lower(): value for name, value in answer.headers.items() if name.lower() not in _OURS}
            return Answer(status=answer.status, headers=kept, pieces=(body,))
    except (OSError, HTTPException, ValueError) as error:
        raise RequestFailed(f"{origin} does not answer: {error}") from error
