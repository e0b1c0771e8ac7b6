"""The debug log: ``PI_LOG=debug`` writes it to a file, with secrets redacted.

It is imported only if ``PI_LOG`` is set. It observes from outside (it subscribes to sessions, wraps the hook trace and
receives plugin loads), so it costs nothing if it is off.
"""

from __future__ import annotations

import io
import logging
import os
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pi_core.base.paths import absolute, agent_dir, home_dir
from pi_core.base.secret_redaction import SecretRedaction
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_core.conversation.session import AgentSession
    from pi_core.hooks.reports import HookTrace
    from pi_hookspecs import AbortSignal, AssistantMessage

__all__ = ["DebugLog", "open_debug_log"]

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
MAX_BYTES = 5_000_000
"""Size at which a log is rotated to ``.1``; one older part is kept."""
MAX_FILES = 40
"""Number of logs of earlier processes that are kept in the default folder."""
SLOW_MS = 100.0
"""Hook calls that take longer are logged."""
HTTP_LOGGERS = ("httpx", "httpx2")
"""Loggers of the HTTP clients: a line for each response, with method, URL and status."""


def open_debug_log(environ: Mapping[str, str]) -> DebugLog:
    """Start logging according to ``PI_LOG`` and ``PI_LOG_FILE``; a second call for the same file returns the first log.

    Raises:
        UserError: The level is unknown, or the file cannot be written.
    """
    level = LEVELS.get(environ["PI_LOG"].lower())
    if level is None:
        raise UserError(
            f"PI_LOG={environ['PI_LOG']!r} is not a log level; set it to debug, info or warning, or unset it"
        )
    file = _file(environ)
    for handler in logging.getLogger("pi").handlers:
        if isinstance(handler, _LogFile) and handler.baseFilename == str(file):
            return handler.log
    redaction = SecretRedaction(environ, agent_dir(environ) / "auth.json")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = DebugLog(file, redaction)
        handler = _LogFile(file, log)
    except OSError as error:
        message = f"The debug log {str(file)!r} cannot be written: {error.strerror}. Set PI_LOG_FILE to another file"
        raise UserError(message) from error
    handler.setFormatter(_Redacted(redaction))
    for name in ("pi", *HTTP_LOGGERS):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)
        logger.propagate = False  # a program's own handlers would not redact secrets
    log.host.info("log of process %d begins", os.getpid())
    return log


def _file(environ: Mapping[str, str]) -> Path:
    chosen = environ.get("PI_LOG_FILE")
    if chosen:
        return Path(absolute(chosen, str(Path.cwd()), str(home_dir(environ))))
    folder = Path(os.path.abspath(agent_dir(environ))) / "logs"  # noqa: PTH100 - as logging spells it
    with suppress(OSError):  # another process may also remove old logs
        older = sorted(folder.glob("pi-*.log*"), key=lambda each: each.stat().st_mtime)
        for each in older[: -MAX_FILES or None]:
            each.unlink()
    return folder / f"pi-{os.getpid()}.log"


class DebugLog:
    """Writes events to the loggers ``pi.host``, ``pi.hooks``, ``pi.agent``, ``pi.providers`` and ``pi.session``.

    Texts of prompts, answers, tool arguments and results are never logged.

    Args:
        file: Path of the log.
        redaction: Learns the keys that sessions use.
    """

    def __init__(self, file: Path, redaction: SecretRedaction) -> None:
        self.file = file
        self._redaction = redaction
        self.host = logging.getLogger("pi.host")
        self._hooks = logging.getLogger("pi.hooks")
        self._agent = logging.getLogger("pi.agent")
        self._providers = logging.getLogger("pi.providers")
        self._session = logging.getLogger("pi.session")

    def loading(self, plugin: str, milliseconds: float | None) -> None:
        """Log that loading a plugin begins (None) or has ended."""
        if milliseconds is None:
            self.host.debug("plugin %s: load begins", plugin)
        else:
            self.host.info("plugin %s: load took %.1f ms", plugin, milliseconds)

    def traced(self, trace: Callable[[HookTrace], None] | None) -> Callable[[HookTrace], None]:
        """Return a trace of hook calls that logs slow calls and forwards all calls."""

        def observe(call: HookTrace) -> None:
            if call.milliseconds > SLOW_MS:
                self._hooks.info("%s of plugin %s took %.0f ms", call.hook, call.plugin, call.milliseconds)
            if trace is not None:
                trace(call)

        return observe

    def observed(self, session: AgentSession) -> AgentSession:
        """Log the events of a session from now on, and return the session."""
        session.models.on_secret = self._redaction.add
        self._redaction.more = session.ctx.secrets.clean
        current = self._begun(session)
        for problem in session.host.problems:
            self.host.warning("plugin %s, %s: %s", problem.plugin, problem.step, problem.message)
        started = perf_counter()

        def receive(event: Any, signal: AbortSignal | None) -> None:
            nonlocal current, started
            if event.type == "turn_start":
                started = perf_counter()
                model = session.model
                self._providers.debug("request to %s begins", model.reference if model is not None else "no model")
            elif event.type == "message_end":
                if event.message.role == "assistant":
                    self._answered(event.message, (perf_counter() - started) * 1000)
            elif event.type == "agent_start" and signal is not None:
                if session.session_manager.id != current:  # another conversation has replaced it
                    current = self._begun(session)
                signal.on_abort(lambda: self._agent.info("run aborted: %s", signal.reason or "no reason given"))
            else:
                self._happened(event)

        session.subscribe(receive, *_EVENTS)
        return session

    def _begun(self, session: AgentSession) -> str:
        """Log the current conversation of a session, and return its id."""
        manager = session.session_manager
        self._session.info("session %s in %s, file %s", manager.id, session.cwd, manager.file)
        return manager.id

    def _answered(self, answer: AssistantMessage, milliseconds: float) -> None:
        usage = answer.usage
        failed = answer.stop_reason in ("error", "aborted")
        self._providers.log(
            logging.WARNING if failed else logging.INFO,
            "answer of %s/%s after %.0f ms: %s, %d tokens in, %d out, %d from the cache%s",
            *(answer.provider, answer.model, milliseconds, answer.stop_reason),
            *(usage.input, usage.output, usage.cache_read),
            f": {answer.error_message}" if failed else "",
        )

    def _happened(self, event: Any) -> None:
        kind = event.type
        if kind == "tool_execution_start":
            self._agent.debug("tool %s (%s) begins", event.tool_name, event.tool_call_id)
        elif kind == "tool_execution_end":
            took = f"{event.duration_ms} ms" if event.duration_ms is not None else "not run"
            outcome = "error" if event.is_error else "ok"
            self._agent.info("tool %s (%s): %s, %s", event.tool_name, event.tool_call_id, outcome, took)
        elif kind == "auto_retry_start":
            which = f"{event.attempt} of {event.max_attempts}"
            self._agent.warning("retry %s in %d ms: %s", which, event.delay_ms, event.error_message)
        elif kind == "auto_retry_end":
            self._agent.info("retries end after %d: %s", event.attempt, event.final_error or "answered")
        elif kind == "compaction_start":
            self._session.info("compaction begins: %s", event.reason)
        elif kind == "compaction_end":
            outcome = (
                "aborted" if event.aborted else event.error_message or ("done" if event.result else "nothing done")
            )
            self._session.info("compaction ends: %s", outcome)
        elif kind == "extension_error":
            logger = self._session if event.extension_path == "(session)" else self._hooks
            logger.warning("%s, %s: %s", event.extension_path, event.event, event.error)
        else:
            self._agent.debug("%s", kind)


_EVENTS = (
    *("agent_start", "agent_end", "agent_settled", "turn_start", "message_end"),
    *("tool_execution_start", "tool_execution_end", "auto_retry_start", "auto_retry_end"),
    *("compaction_start", "compaction_end", "extension_error"),
)


class _LogFile(RotatingFileHandler):
    """A file that only the user can read; lines that cannot be written are lost."""

    def __init__(self, file: Path, log: DebugLog) -> None:
        self.log = log
        super().__init__(file, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace")

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(
            open(self.baseFilename, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)),
            encoding=self.encoding,
            errors=self.errors,
            write_through=True,
        )

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        pass


class _Redacted(logging.Formatter):
    """One line per record, without secrets and control characters."""

    def __init__(self, redaction: SecretRedaction) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._redaction = redaction

    def format(self, record: logging.LogRecord) -> str:
        text = self._redaction.redact(super().format(record))
        return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
