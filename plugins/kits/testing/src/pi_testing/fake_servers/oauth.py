"""An authorization server: it checks logins as the real ones do, and simulates the user's decision.

```python
async with FakeAuthorization() as server:
    monkeypatch.setenv("PI_OAUTH_URL_ACME", server.url)
    ...  # a login shows a page, whose address the user's browser visits:
    visit = await browse(page)  # follows redirects on this computer, as far as the login's own callback
```

Pages and tokens are those of RFC 6749 and 7636 (single-use codes, S256, rotating refresh tokens), device codes those of
RFC 8628 as GitHub words them, and ChatGPT's own; the exchange for a token of Copilot, the models that it lists, and
the project of an account of Cloud Code Assist are there too. What a test scripts with ``answers`` comes first.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from pi_testing.fake_servers.server import Answer, FakeServer, Request, html_page, json_answer, redirect
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["FakeAuthorization", "Visit", "browse", "unsigned_jwt"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Visit(NamedTuple):
    """The page at which a browser arrived. ``status`` is 0 if it is not on this computer: nothing was sent."""

    url: str
    status: int
    text: str


async def browse(url: str) -> Visit:
    """Visit a page and follow its redirects, as a browser would, without leaving this computer."""
    while True:
        parts = urlsplit(url)
        if parts.hostname not in _LOOPBACK:
            return Visit(url, 0, "")
        status, location, text = await asyncio.to_thread(_get, parts.hostname, parts.port, parts.path, parts.query)
        if location is None:
            return Visit(url, status, text)
        url = urljoin(url, location)


def unsigned_jwt(claims: Mapping[str, Any]) -> str:
    """Return a JSON web token with these claims and an invalid signature."""
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJub25lIn0.{body}.c2lnbmF0dXJl"


class FakeAuthorization(FakeServer):
    """Issues codes and tokens.

    Args:
        make_token: Makes the text of the n-th access token.
        expires_in: Lifetime of access tokens in seconds.
        models: Rows of Copilot's ``/models``.
        options: Of ``FakeServer``.

    Attributes:
        consents: Whether the user accepts on the page.
        device_answers: Errors for the next polls for a device code: ``authorization_pending``, ``slow_down``,
            ``access_denied``, ``expired_token``. After the last one the user has accepted.
        interval: Seconds between two polls, as the answer with the device code states.
        clock_ahead: Seconds by which this server's clock differs from the computer's.
        exchanges: Codes that were exchanged.
        refreshes: Refresh tokens that were exchanged.
        copilot_tokens: Tokens of Copilot that were handed out.
        enabled: Models of Copilot whose terms were accepted.
        refresh_tokens: The valid refresh tokens.
    """

    def __init__(
        self,
        *,
        make_token: Callable[[int], str] = "fake-access-{}".format,
        expires_in: int = 3600,
        models: Iterable[dict[str, Any]] = (),
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.make_token = make_token
        self.expires_in = expires_in
        self.models = list(models)
        self.consents = True
        self.device_answers: deque[str] = deque()
        self.interval = 0.01
        self.clock_ahead = 0.0
        self.exchanges = 0
        self.refreshes = 0
        self.copilot_tokens = 0
        self.enabled: list[str] = []
        self.refresh_tokens: set[str] = set()
        self._issued = 0
        self._codes: dict[str, dict[str, str]] = {}
        self._devices: set[str] = set()

    def revoke(self) -> None:
        """Make all refresh tokens worthless."""
        self.refresh_tokens.clear()

    def refusal(self, request: Request) -> Answer | None:
        """Answer as an authorization server does, unless the test has scripted something."""
        if self._script:
            return None
        route = _ROUTES.get((request.method, request.path))
        if route is not None:
            answer = route(self, request)
        elif request.method == "POST" and request.path.startswith("/models/"):
            answer = self._enable(request)
        else:
            answer = self.error(404, f"no such address: {request.method} {request.path}")
        return answer.with_headers(date=self._date())

    def error(self, status: int, message: str) -> Answer:
        """Return an error as RFC 6749 has it; ``message`` may be ``code: description``."""
        code, _, description = message.partition(": ")
        return json_answer(status, {"error": code, **({"error_description": description} if description else {})})

    # The page

    def _authorize(self, request: Request) -> Answer:
        asked = {name: values[0] for name, values in parse_qs(request.query).items()}
        needed = ("client_id", "redirect_uri", "scope", "state", "code_challenge")
        missing = [name for name in needed if not asked.get(name)]
        if missing or asked.get("response_type") != "code" or asked.get("code_challenge_method") != "S256":
            return html_page(400, f"Bad authorization request, missing: {missing}")
        if self.consents:
            code = f"fake-code-{len(self._codes) + self.exchanges + 1}"
            self._codes[code] = asked
            outcome = {"code": code}
        else:
            outcome = {"error": "access_denied", "error_description": "The user said no"}
        target = asked["redirect_uri"]
        return redirect(f"{target}?{urlencode({**outcome, 'state': asked['state']})}", 302)

    # Tokens

    def _token(self, request: Request) -> Answer:
        fields = _fields(request)
        if not fields.get("client_id"):
            return self.error(401, "invalid_client: there is no client_id")
        if fields.get("grant_type") == "authorization_code":
            return self._exchange_code(fields)
        if fields.get("grant_type") == "refresh_token":
            return self._refresh(fields)
        return self.error(400, f"unsupported_grant_type: {fields.get('grant_type')!r}")

    def _exchange_code(self, fields: Mapping[str, str]) -> Answer:
        asked = self._codes.pop(fields.get("code", ""), None)
        if asked is None:
            return self.error(400, "invalid_grant: unknown code, or it was used before")
        proof = _challenge(fields.get("code_verifier", ""))
        same = all(fields.get(name) == asked[name] for name in ("client_id", "redirect_uri"))
        if proof != asked["code_challenge"] or not same or fields.get("state", asked["state"]) != asked["state"]:
            return self.error(400, "invalid_grant: the code was issued to another client")
        self.exchanges += 1
        return self._grant()

    def _refresh(self, fields: Mapping[str, str]) -> Answer:
        token = fields.get("refresh_token", "")
        if token not in self.refresh_tokens:
            return self.error(400, f"invalid_grant: Refresh token not found or invalid: {token}")
        self.refresh_tokens.discard(token)
        self.refreshes += 1
        return self._grant()

    def _grant(self) -> Answer:
        self._issued += 1
        refresh = f"fake-refresh-{self._issued}"
        self.refresh_tokens.add(refresh)
        token = self.make_token(self._issued)
        granted = {"token_type": "Bearer", "access_token": token, "refresh_token": refresh}
        return json_answer(200, {**granted, "expires_in": self.expires_in})

    # Device codes

    def _device_code(self, request: Request) -> Answer:
        if not _fields(request).get("client_id"):
            return self.error(401, "invalid_client: there is no client_id")
        code = f"fake-device-{len(self._devices) + 1}"
        self._devices.add(code)
        times = {"interval": self.interval, "expires_in": 900}
        page = {"user_code": "FAKE-CODE", "verification_uri": f"{self.url}/login/device"}
        return json_answer(200, {"device_code": code, **page, **times})

    def _device_token(self, request: Request) -> Answer:
        fields = _fields(request)
        if fields.get("device_code") not in self._devices:
            return json_answer(200, {"error": "incorrect_device_code"})
        state = self.device_answers.popleft() if self.device_answers else None
        if state is None:
            self._devices.discard(fields["device_code"])
            return json_answer(
                200, {"access_token": self._github_token(), "token_type": "bearer", "scope": "read:user"}
            )
        more = {"interval": self.interval * 2} if state == "slow_down" else {}
        return json_answer(200, {"error": state, "error_description": f"The device is {state}", **more})

    def _chatgpt_code(self, request: Request) -> Answer:
        code = f"fake-device-{len(self._devices) + 1}"
        self._devices.add(code)
        return json_answer(200, {"device_auth_id": code, "user_code": "FAKE-CODE", "interval": str(int(self.interval))})

    def _chatgpt_poll(self, request: Request) -> Answer:
        """Answer as ChatGPT does: 403 until the user has entered the code, then a code and its verifier."""
        fields = request.json
        if fields["device_auth_id"] not in self._devices or fields["user_code"] != "FAKE-CODE":
            return self.error(400, "invalid_request")
        if self.device_answers:
            return self.error(403, self.device_answers.popleft())
        verifier = "fake-verifier"
        asked = {"client_id": "app_EMoamEEZ73f0CkXaXp7hrann", "state": "", "code_challenge": _challenge(verifier)}
        self._codes["fake-code-of-device"] = {**asked, "redirect_uri": "https://auth.openai.com/deviceauth/callback"}
        return json_answer(200, {"authorization_code": "fake-code-of-device", "code_verifier": verifier})

    def _github_token(self) -> str:
        self._issued += 1
        token = f"gho_fake{self._issued}"
        self.refresh_tokens.add(token)
        return token

    # Copilot

    def _copilot_token(self, request: Request) -> Answer:
        from time import time

        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.refresh_tokens:
            return json_answer(401, {"message": f"Bad credentials: {token}"})
        self.copilot_tokens += 1
        times = {"expires_at": int(time() + self.clock_ahead + self.expires_in), "refresh_in": self.expires_in - 300}
        text = f"tid={self.copilot_tokens};exp={times['expires_at']};proxy-ep=proxy.business.githubcopilot.com;sku=fake"
        return json_answer(200, {"token": text, **times})

    def _models(self, request: Request) -> Answer:
        return json_answer(200, {"data": self.models})

    def _enable(self, request: Request) -> Answer:
        self.enabled.append(request.path.split("/")[2])
        return json_answer(200, {"state": request.json["state"]})

    # Cloud Code Assist

    def _account(self, request: Request) -> Answer:
        return json_answer(200, {"currentTier": {"id": "free-tier"}, "cloudaicompanionProject": "fake-project"})

    def _date(self) -> str:
        from email.utils import formatdate
        from time import time

        return formatdate(time() + self.clock_ahead, usegmt=True)


_ROUTES: dict[tuple[str, str], Callable[[FakeAuthorization, Request], Answer]] = {
    ("GET", "/oauth/authorize"): FakeAuthorization._authorize,  # noqa: SLF001 - this class's own, by address
    ("GET", "/o/oauth2/v2/auth"): FakeAuthorization._authorize,  # noqa: SLF001
    ("POST", "/v1/oauth/token"): FakeAuthorization._token,  # noqa: SLF001
    ("POST", "/oauth/token"): FakeAuthorization._token,  # noqa: SLF001
    ("POST", "/token"): FakeAuthorization._token,  # noqa: SLF001
    ("POST", "/login/device/code"): FakeAuthorization._device_code,  # noqa: SLF001
    ("POST", "/login/oauth/access_token"): FakeAuthorization._device_token,  # noqa: SLF001
    ("POST", "/api/accounts/deviceauth/usercode"): FakeAuthorization._chatgpt_code,  # noqa: SLF001
    ("POST", "/api/accounts/deviceauth/token"): FakeAuthorization._chatgpt_poll,  # noqa: SLF001
    ("GET", "/copilot_internal/v2/token"): FakeAuthorization._copilot_token,  # noqa: SLF001
    ("GET", "/models"): FakeAuthorization._models,  # noqa: SLF001
    ("POST", "/v1internal:loadCodeAssist"): FakeAuthorization._account,  # noqa: SLF001
}


def _challenge(verifier: str) -> str:
    """Return the challenge of a verifier by method S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _fields(request: Request) -> dict[str, str]:
    """Return the body's fields, whether it is JSON or a form."""
    if request.headers.get("content-type", "").startswith("application/json"):
        return {str(name): str(value) for name, value in request.json.items()}
    return {name: values[0] for name, values in parse_qs(request.body.decode()).items()}


def _get(host: str, port: int | None, path: str, query: str) -> tuple[int, str | None, str]:
    from http.client import HTTPConnection

    connection = HTTPConnection(host, port, timeout=PATIENCE)
    try:
        connection.request("GET", f"{path}?{query}" if query else path)
        response = connection.getresponse()
        return response.status, response.headers.get("location"), response.read().decode()
    finally:
        connection.close()
