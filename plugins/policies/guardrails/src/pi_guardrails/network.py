"""What leaves this computer: files, variables and command output that a program sends elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pi_guardrails.call import has_words
from pi_guardrails.files import READERS
from pi_guardrails.script import read_script
from pi_guardrails.trail import printed
from pi_guardrails.words import UNKNOWN
from pi_hookspecs.secrets import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_guardrails.call import Call, Judgement
    from pi_guardrails.paths import Places
    from pi_guardrails.words import Word

__all__ = ["SENDERS", "addresses", "says_nothing", "sends"]

_RULE = "exfiltration"
_TO = "to another computer"

_LOCAL = re.compile(
    r"(\w+://)?([\w.-]+(:[^@/]*)?@)?"
    r"(?P<host>localhost|[\w-]+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|::1|host\.docker\.internal|(?=:\d))"
    r"(:\d+)?([/?#].*)?",
    re.DOTALL,
)
_HOST = re.compile(r"\w+://|[\w-]+(\.[\w-]+)+(:\d+)?(/|$)|[\w-]+:\d+(/|$)")
_ADDRESS = re.compile(r"\w+://|[\w.-]+@[\w.-]+:")
_REROUTED = ("--resolve", "--connect-to", "--proxy", "--socks", "--preproxy", "--doh-url")

_SUBSTITUTION = re.compile(r"\$\((?!\()|`|[<>]\(")
_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_VALUE_BEFORE = {
    "curl": re.compile(
        r"-[a-zA-Z]*[AbcDdeEFHKmoPTuwXy]|--(data|form|header|output|user|cookie|request|json|upload|cert|key|cacert|max"
        r"|connect-timeout|retry|write-out|range).*"
    ),
    "wget": re.compile(
        r"-[a-zA-Z]*[OPoaTwtQUADRIXe]|--(post|body|method|header|user|timeout|tries|output|directory-p).*"
    ),
}
"""Options of web clients whose next argument is not an address."""

_SAYS_NOTHING = frozenset(
    "arch basename date dirname dpkg echo expr mktemp node nproc printf python python3 seq sw_vers tr uname "
    "lsb_release".split()
)
"""Programs whose output is harmless in an address: a version, a number or a name."""

_GIT_SAYS_NOTHING = ("rev-parse", "describe", "symbolic-ref", "branch --show-current")
_NEVER = re.compile("(?!)")
_LONGEST = 20_000
_MOST_LOOKS = 50

_CURL_FILES = re.compile(
    r"(-d|--data|--data-ascii|--data-binary|--json|-H|--header|--url-query)=?@(?P<a>.+)"
    r"|--data-urlencode=?[\w.-]*@(?P<b>.+)|(-F|--form)=?[^=]+=[@<](?P<c>.+)|(-T|--upload-file)=?(?P<d>.+)",
    re.DOTALL,
)
_WITH_VALUE = frozenset(
    "-d --data --data-ascii --data-binary --json -H --header --url-query --data-urlencode -F --form -T --upload-file "
    "--post-file --body-file".split()
)
_WGET_FILES = re.compile(r"--(?:post|body)-file=?(?P<a>.+)", re.DOTALL)
_HTTPIE_FILES = re.compile(r"[\w.-]*(?:=|:=)?@(?P<a>.+)", re.DOTALL)
_DELETES = re.compile(r"(?:^|\s)(-[a-zA-Z]*X ?|--request[ =]|--method[ =]|)DELETE(?=\s|$)")
_MOST_TEXTS = 50
_SERVED_BY_DATABASES = re.compile(r":(9200|5984|8086|6333|8500|2375|2376|7474|8983|15672|8001|8200|4646|2379|9000)\b")
"""Ports of Elasticsearch, CouchDB, InfluxDB, Qdrant, Consul, Docker, Neo4j, Solr, RabbitMQ, Kubernetes and others."""

_PLACE = re.compile(r"rsync://|(?!\w+://)[\w.-]+(@[\w.-]+)?:")
_CLOUD = re.compile(r"(s3|gs|az|b2|r2|oss)://")


def sends(call: Call) -> Iterator[Judgement]:
    """Yield findings about a program that connects to another computer."""
    if any("docker.sock" in text for text in call.texts):
        yield "ask", "privileges", "it reaches the interface of Docker, which may change the whole computer"
    if _is_local(call) and SENDERS[call.name] is not _shares:  # which make what is here reachable
        yield from _of_databases(call)
        return
    if len([word for word in call.arguments if not word.known]) > _MOST_LOOKS:
        yield "ask", _RULE, f"it sends too much {_TO} to analyse"
    if call.name == "gh":
        yield from _secret_files(call)
    for word in _worth_a_look(call) if call.name != "gh" else ():
        if (secret := _carried(call, word)) is not None:
            yield "ask", _RULE, f"it sends {secret} {_TO}"
            break
    if call.name in _READING:
        yield from _standard_input(call)
    judge = SENDERS[call.name]
    if judge is not None:
        yield from judge(call)


def _of_databases(call: Call) -> Iterator[Judgement]:
    """Judge requests to databases and orchestrators of this computer, whose interface is HTTP."""
    texts = call.texts
    whole = " ".join(texts[:_MOST_TEXTS])
    to_database = _SERVED_BY_DATABASES.search(whole) is not None
    writes = _DELETES.search(whole) or re.search(r"\bPUT\b.*/_(settings|cluster)|\bPOST\b.*:237[56]\b", whole)
    if (to_database and writes) or "_delete_by_query" in whole:
        yield "ask", "database", "it changes a database, or what runs on this computer, through its interface"


def addresses(call: Call) -> Iterator[Judgement]:
    """Yield findings about an address among the arguments of any program, which may connect to it."""
    if call.name in READERS:
        return
    needed = _KEEPS.get(call.name)
    if needed is not None and (not needed or any(word.text in needed.split() for word in call.arguments)):
        yield from _secret_files(call)
    for word in call.arguments:
        if (
            _ADDRESS.match(word.text)
            and not _is_local_host(word.text)
            and (carried := _carried(call, word)) is not None
        ):
            yield "ask", _RULE, f"it sends {carried} {_TO}"
            break


_KEEPS = {
    **dict.fromkeys(("docker", "podman", "buildah", "nerdctl"), "build buildx tag push commit bake"),
    "git": "commit tag notes push send-email",
    **dict.fromkeys("glab hub tea jira linear sentry-cli slack-cli netlify vercel heroku flyctl fly doctl".split(), ""),
    **dict.fromkeys("bb az-devops notion-cli twilio stripe wrangler railway render supabase firebase".split(), ""),
}
"""Programs that send or keep their arguments where others may read them, and the subcommands with which they do."""

_TELLS = frozenset("env printenv export set declare op pass gopass secret-tool keyring bw".split())
"""Programs that print secrets without naming a file."""


def _secret_files(call: Call) -> Iterator[Judgement]:
    """Yield a finding if an argument is the content of a protected file, or what prints secrets."""
    for word in _worth_a_look(call):
        for source in call.sources(word):
            if _SUBSTITUTION.search(source) and len(source) <= _LONGEST and (what := _secret_in(source, call.places)):
                yield "ask", _RULE, f"it sends {what} {_TO}"
                return


def _secret_in(source: str, places: Places) -> str | None:
    for command in read_script(f"x {source}", {"HOME": places.home}).commands:
        words = [word for word in (*command.words, *command.reads) if word.known]
        if words and words[0].text == "x":
            words = words[1:]
        if words and words[0].text.rsplit("/", 1)[-1] in _TELLS:
            return f"what {words[0].text} prints"
        for word in words:
            pattern = places.protection(word.text)
            if pattern is not None and pattern != ".git" and not places.runs_later(pattern):
                return repr(word.text)
    return None


def _worth_a_look(call: Call) -> list[Word]:
    """Return the unknown arguments, as many as can be examined while the agent waits."""
    return [word for word in call.arguments if not word.known or "$" in word.source][:_MOST_LOOKS]


def _is_local(call: Call) -> bool:
    """Whether every address among the arguments belongs to this computer."""
    addresses = []
    takes_value = _VALUE_BEFORE.get(call.name, _NEVER)
    for before, word in zip(("", *call.texts), call.arguments, strict=False):
        is_value = takes_value.fullmatch(before) is not None and "://" not in word.text
        if not word.text.startswith("-") and not is_value and (not word.known or _is_address(word.text)):
            addresses.append(word)
    here = [word for word in addresses if _is_local_host(word.text)]
    return bool(here) and here == addresses and not call.has_long(*_REROUTED) and not call.has_letter("x")


def _is_address(text: str) -> bool:
    return _HOST.match(text) is not None or _LOCAL.fullmatch(text) is not None


def _is_local_host(text: str) -> bool:
    return _LOCAL.fullmatch(text) is not None and UNKNOWN not in text.partition("/")[0]


def _carried(call: Call, word: Word) -> str | None:
    """Describe what an argument reveals of this computer; None if it needs no question."""
    if UNKNOWN in word.text and word.text.strip(UNKNOWN) and not re.search(r"[$`<>]", word.source):  # inserted by xargs
        return "what it reads"
    return next((carried for source in call.sources(word) if (carried := _carried_in(source)) is not None), None)


@lru_cache(maxsize=64)
def _carried_in(source: str) -> str | None:
    if (secret := next(filter(is_secret_name, _NAMED.findall(source)), None)) is not None:
        return f"what may be a secret, ${secret},"
    return "the output of a command" if _SUBSTITUTION.search(source) and not says_nothing(source) else None


def says_nothing(source: str) -> bool:
    """Return whether the commands in a word print only versions, numbers or names."""
    if len(source) > _LONGEST:
        return False
    script = read_script(f"x={source}" if not source.startswith("<(") else f"x {source}", {})
    names = []
    for command in script.commands:
        text = " ".join(word.text for word in command.words)
        names.append(command.words[0].text if command.words else "")
        if names[-1] == "git" and text.removeprefix("git ").startswith(_GIT_SAYS_NOTHING):
            names[-1] = "echo"
        if names[-1] in ("python", "python3", "node") and not re.fullmatch(r"\S+ (-V|-v|--version)", text):
            return False
        if command.reads or not command.words or re.search(r" -f| --file| -r", text):
            return False
        if command.stdin and (printed(command) is None or UNKNOWN in "".join(command.stdin)):
            return False
        if names[-1] == "cat" and command.stdin:
            names[-1] = "echo"
    return bool(names) and not script.problems and set(names) <= _SAYS_NOTHING


def _standard_input(call: Call) -> Iterator[Judgement]:
    """Judge the standard input: it is sent, unless the text is part of the command."""
    command = call.command
    files = [word for word in command.reads if word.text != "/dev/null"]
    if files:
        yield "ask", _RULE, f"it sends {files[0].text if files[0].known else files[0].source!r} {_TO}"
    elif command.piped and not all(_is_plain(feed) for feed in command.feeds):
        yield "ask", _RULE, f"it sends what another command writes {_TO}"
    elif any(UNKNOWN in text for text in command.stdin):
        yield "ask", _RULE, f"it sends the output of a command {_TO}"


def _is_plain(feed: str) -> bool:
    """Whether the output of a command follows from its own words."""
    if len(feed) > _LONGEST:
        return False
    script = read_script(feed, {})
    texts = [printed(command) for command in script.commands]
    return not script.problems and len(texts) == 1 and texts[0] is not None and UNKNOWN not in texts[0]


def _files(call: Call, pattern: str | re.Pattern[str]) -> Iterator[str]:
    """Yield the files that a program's options name, ``-`` for standard input."""
    pairs = [word.text for word in call.arguments]
    pairs += [f"{first}={second}" for first, second in pairwise(pairs) if first in _WITH_VALUE]
    for text in pairs:
        match = re.fullmatch(pattern, text)
        if match is not None:
            yield next(value for value in match.groupdict().values() if value is not None)


def _options(pattern: re.Pattern[str]) -> Callable[[Call], Iterator[Judgement]]:
    def judge(call: Call) -> Iterator[Judgement]:
        if _DELETES.search(whole := " ".join(call.texts[:_MOST_TEXTS])) or "_delete_by_query" in whole:
            yield "ask", "infrastructure", "it deletes something on another computer"
        for path in _files(call, pattern):
            if path.lstrip("=") in ("-", "/dev/stdin"):
                yield from _standard_input(call)
            else:
                yield "ask", _RULE, f"it sends {path.lstrip('=')!r} {_TO}"

    return judge


def _curl(call: Call) -> Iterator[Judgement]:
    if call.has_letter("n") or call.has_long("--netrc"):
        yield "ask", _RULE, f"it sends your password {_TO}"
    yield from _options(_CURL_FILES)(call)


def _logger(call: Call) -> Iterator[Judgement]:
    if call.has_letter("n") or call.has_long("--server"):
        yield "ask", _RULE, f"it sends text {_TO}"


def _netcat(call: Call) -> Iterator[Judgement]:
    if call.has_letter("ec") or call.has_long("--exec", "--sh-exec", "--lua"):
        yield "ask", "remote-code", "it lets another computer use a program on this one"


def _socat(call: Call) -> Iterator[Judgement]:
    if any(not word.known or re.search(r"exec:|system:|shell:", word.text, re.IGNORECASE) for word in call.arguments):
        yield "ask", "remote-code", "it lets another computer use a program on this one"
    if any(re.search(r"\b(open|file|gopen|create):", word.text, re.IGNORECASE) for word in call.arguments):
        yield "ask", _RULE, f"it sends files {_TO}, or gets them from there"


def _copies(call: Call) -> Iterator[Judgement]:
    """Judge copying programs: they send if the destination is on another computer."""
    places = [word for word in call.operands if word.known]
    if len(places) > 1 and _PLACE.match(places[-1].text):
        yield "ask", _RULE, f"it sends files {_TO}: {places[-1].text!r}"


def _cloud(call: Call) -> Iterator[Judgement]:
    """Judge clients of storage services: uploads, not downloads."""
    texts = [word.text for word in call.operands]
    if call.name == "mc" and texts[:1] in (["cp"], ["mirror"], ["put"], ["pipe"]) and len(texts) > 2:  # noqa: PLR2004
        yield "ask", _RULE, f"it sends files {_TO}: {texts[-1]!r}"
    if call.name == "rclone":
        there = [bool(_PLACE.match(text)) for text in texts[1:]]
        if texts[:1] and texts[0] in ("copy", "copyto", "sync", "move", "moveto", "rcat") and any(there[1:] or there):
            yield "ask", _RULE, f"it sends files {_TO}: {texts[-1]!r}"
        return
    places = [place for place, text in enumerate(texts) if _CLOUD.match(text)]
    copies = not {"cp", "sync", "mv", "rsync", "put"}.isdisjoint(texts)
    if copies and places and places[-1] == len(texts) - 1 and len(places) == 1:
        yield "ask", _RULE, f"it sends files {_TO}: {texts[-1]!r}"


def _mail(call: Call) -> Iterator[Judgement]:
    if call.has_letter("aA") or call.has_long("--attach"):
        yield "ask", _RULE, f"it sends files {_TO}"


def _openssl(call: Call) -> Iterator[Judgement]:
    if has_words(call.arguments[:1], "s_client"):
        yield from _standard_input(call)


def _gh(call: Call) -> Iterator[Judgement]:
    if has_words(call.arguments[:1], "api"):
        for word in call.arguments:
            if any(_SUBSTITUTION.search(source) and not says_nothing(source) for source in call.sources(word)):
                yield "ask", _RULE, f"it sends the output of a command {_TO}"


def _shares(_call: Call) -> Iterator[Judgement]:
    yield "ask", _RULE, f"it sends files {_TO}, or lets others reach this one"


_READING = frozenset(
    "nc ncat netcat telnet mail mailx sendmail mutt msmtp http https xh socat nslookup websocat grpcurl".split()
)
"""Programs that send their standard input."""

SENDERS: dict[str, Callable[[Call], Iterator[Judgement]] | None] = {
    **dict.fromkeys(("curl", "curlie"), _curl),
    **dict.fromkeys(("wget", "wget2"), _options(_WGET_FILES)),
    **dict.fromkeys(("http", "https", "xh"), _options(_HTTPIE_FILES)),
    **dict.fromkeys(("nc", "ncat", "netcat"), _netcat),
    **dict.fromkeys(("scp", "rsync"), _copies),
    **dict.fromkeys(("aws", "gsutil", "gcloud", "rclone", "az", "b2", "s3cmd", "mc"), _cloud),
    **dict.fromkeys(("mail", "mailx", "mutt", "swaks"), _mail),
    **dict.fromkeys(
        "magic-wormhole lt chisel frpc gist pastebinit syncthing telegram-send slackcat onionshare onionshare-cli "
        "zipline davfs2 snmpset xmpp-send sendxmpp".split(),
        _shares,
    ),
    "logger": _logger,
    **dict.fromkeys(("croc", "wormhole", "ngrok", "cloudflared", "localtunnel", "transfer", "ffsend"), _shares),
    **dict.fromkeys(
        "telnet sendmail msmtp ping ping6 dig nslookup host whois traceroute drill grpcurl websocat".split()
    ),
    "gh": _gh,
    "openssl": _openssl,
    "socat": _socat,
}
"""Programs that connect to other computers, with the judge of each."""
