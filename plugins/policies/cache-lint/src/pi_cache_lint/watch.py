"""Follows a session's requests: compares each, once answered, with the last one of the same purpose.

A break becomes an entry of the session, so that it can be read again, and a notice when an avoidable one costs more
than a cent. The chain is stored when a run settles, if its prompt is worth that much, for the first request after a
resume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_cache_lint.chain import Digests, chain_of, message_of_block
from pi_cache_lint.culprit import Culprit, find_culprit, reason_of_moved_messages
from pi_cache_lint.difference import first_change, first_difference
from pi_cache_lint.first import ENTRY, tools_of
from pi_cache_lint.line import Line, Section
from pi_cache_lint.loss import CENT, NOTABLE_TOKENS, dollars_of, missed_tokens
from pi_cache_lint.notices import SETTING, notify_miss
from pi_cache_lint.record import stored_line, to_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_cache_lint.chain import Chain
    from pi_cache_lint.difference import Difference
    from pi_cache_lint.first import Moment, Tools
    from pi_hookspecs import ModelUsageEvent, PiAPI, PiContext, PromptPart

__all__ = ["Watch"]

_CONVERSATION = "conversation"
_WORTH_A_LINE = 0.1
"""Part of the prompt that must be missing before a request without a break counts as evicted."""


class Watch:
    """Watches the requests of one session.

    Args:
        pi: Stores entries.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._session: str | None = None
        self._lines: dict[tuple[str, str | None], Line] = {}
        self._digests: dict[tuple[str, str | None], Digests] = {}
        self._reported: set[tuple[str, str | None]] = set()
        self._stored: dict[str, Any] = {}
        pi.on("agent_settled", self._store)

    def look(self, event: ModelUsageEvent, moment: Moment, ctx: PiContext) -> None:
        """Compare a request with the last one, and report a break.

        Args:
            event: The request.
            moment: The session as it was when the request was answered.
            ctx: The current session.
        """
        self._begin(ctx)
        purpose = event.purpose, event.plugin
        digests = self._digests.setdefault(purpose, Digests())
        chain = chain_of(event.payload, digests, _declarations(moment.tools, self._pi))
        if chain is None:
            return
        before = self._lines.get(purpose)
        self._lines[purpose] = line = self._line(chain, event, moment, before)
        if before is not None:
            self._compare(before, line, event, ctx)

    def _begin(self, ctx: PiContext) -> None:
        """Start over for another session, from the chain that it stores."""
        if ctx.session.id == self._session:
            return
        self._session = ctx.session.id
        self._lines, self._digests, self._stored = {}, {}, {}
        stored, self._stored = stored_line(ctx.session.branch())
        if stored is not None:
            self._lines[_CONVERSATION, None] = stored

    def _line(self, chain: Chain, event: ModelUsageEvent, moment: Moment, before: Line | None) -> Line:
        """Return what is kept of a request; tools and sections are read only where they may have changed."""
        same_tools = before is not None and before.offered and before.chain.tools == chain.tools
        same_system = before is not None and before.prompt and before.chain.system == chain.system
        usage = event.usage
        line = Line(
            chain=chain,
            usage=usage,
            started=moment.started,
            leaf=moment.leaf,
            level=moment.level,
            changes={"before_provider_request": moment.payload_changes},
            caches=usage.cache_read + usage.cache_write > 0 or (before is not None and before.caches),
        )
        if before is not None and same_tools:
            line.offered, line.owners = before.offered, before.owners
        else:
            line.offered, line.owners = _offered(moment.tools or tools_of(self._pi))
        if event.purpose == _CONVERSATION:
            line.changes.update(moment.changes)
            line.messages = moment.messages
            if before is not None and same_system:
                line.prompt, line.sections = before.prompt, before.sections
            else:
                line.prompt, line.sections = Digests().of(moment.prompt), _sections(moment.parts)
        return line

    def _compare(self, before: Line, line: Line, event: ModelUsageEvent, ctx: PiContext) -> None:
        found = first_difference(before.chain, line.chain, messages=event.purpose == _CONVERSATION)
        missed = missed_tokens(before.usage, event.usage, explicit=bool(before.chain.markers))
        is_late = line.started - before.started > before.chain.lifetime
        if found is None:
            sent = event.usage.input + event.usage.cache_read + event.usage.cache_write
            if line.caches and missed > max(NOTABLE_TOKENS, sent * _WORTH_A_LINE):
                culprit = Culprit(link="lifetime", reason="lifetime passed") if is_late else Culprit(link="provider")
                self._report(culprit, "expected" if is_late else "evicted", missed, event, ctx)
            return
        culprit = self._culprit(found, before, line, event, ctx)
        if is_late and not culprit.reason:
            culprit = evolve(culprit, reason="lifetime passed")
        self._report(culprit, "expected" if culprit.reason else "avoidable", missed, event, ctx)

    def _culprit(self, found: Difference, before: Line, line: Line, event: ModelUsageEvent, ctx: PiContext) -> Culprit:
        if found.area != "messages":
            return find_culprit(found, before, line)
        found = evolve(found, message=message_of_block(event.payload, found.number))
        link = f"messages[{found.message}]"
        if reason := reason_of_moved_messages(ctx.session.branch(), before.leaf):
            return Culprit(link=link, reason=reason)
        return evolve(find_culprit(found, before, line), link=link)

    def _report(self, culprit: Culprit, kind: str, missed: int, event: ModelUsageEvent, ctx: PiContext) -> None:
        """Store a break, and notify the user of an avoidable one that costs more than a cent, once for each culprit."""
        dollars = dollars_of(missed, event.model)
        link = f"{culprit.link}: {culprit.reason}" if culprit.reason else culprit.link
        self._pi.append_entry(
            ENTRY,
            {
                "break": {
                    "request": event.request_id,
                    "kind": kind,
                    "link": link,
                    "plugin": culprit.plugin,
                    "hook": culprit.hook,
                    "dollars": round(dollars, 6),
                }
            },
        )
        who = culprit.link.partition("[")[0], culprit.plugin
        if kind == "avoidable" and dollars > CENT and who not in self._reported:
            self._reported.add(who)
            by = f"plugin {culprit.plugin!r} ({culprit.hook})" if culprit.plugin else "pi, or a cause not found"
            ctx.ui.notify(
                f"The provider's cache was lost at {link}, changed by {by}: {missed:,} tokens were paid again, about"
                f" ${dollars:.2f}. /cache lists all of them.",
                "warning",
            )
        elif ctx.settings.get(SETTING) is True:
            notify_miss(culprit, kind, missed, event, ctx)

    def _store(self, _event: object, ctx: PiContext) -> None:
        """Store the new part of the conversation's chain if a break after a resume would cost a cent."""
        line = self._lines.get((_CONVERSATION, None))
        model = ctx.model
        if line is None or model is None or ctx.session.id != self._session or ctx.session.reference is None:
            return
        usage = line.usage
        if dollars_of(usage.input + usage.cache_read + usage.cache_write, model) < CENT:
            return
        record = to_record(line)
        if news := {name: value for name, value in record.items() if self._stored.get(name) != value}:
            if "messages" in news:
                kept, messages = self._stored.get("messages", []), record["messages"]
                news["keep"] = keep = first_change(kept, messages)
                news["messages"] = messages[keep:]
            self._pi.append_entry(ENTRY, {"chain": news})
            self._stored = record


def _declarations(tools: Tools | None, pi: PiAPI) -> Callable[[str], Any]:
    """Return a function that looks up the description and parameters of a tool; it lists the tools at most once."""
    known: dict[str, Any] = {}

    def declaration(name: str) -> Any:
        if not known:
            found = tools[0] if tools is not None else pi.get_all_tools()
            known.update((each.name, [each.description, each.parameters]) for each in found)
        return known.get(name)

    return declaration


def _offered(tools: Tools) -> tuple[tuple[tuple[str, str], ...], dict[str, str | None]]:
    """Return name and hash of the active tools, and the plugin of every tool."""
    digests, known = Digests(), {each.name: each for each in tools[0]}
    active = (known[name] for name in tools[1] if name in known)
    offered = tuple((each.name, digests.of([each.description, each.parameters])) for each in active)
    return offered, {each.name: each.plugin for each in known.values()}


def _sections(parts: Sequence[PromptPart]) -> tuple[Section, ...]:
    digests = Digests()
    return tuple(Section(each.section, digests.of(each.text), each.plugin, each.hook) for each in parts)
