"""The command itself: selects the parts to check, prints the findings, and sets the exit code."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_cli.checking.contracts import read_contract
from pi_cli.checking.findings import PARTS, Finding
from pi_cli.checking.metadata import check_metadata
from pi_cli.checking.running import check_contract, check_import
from pi_cli.checking.static import check_sources
from pi_cli.checking.subject import find_subject
from pi_cli.checking.suites import check_tests
from pi_cli.report import print_json, print_lines
from pi_cli.words import one_line
from pi_core.host.extensions.places import is_script
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_cli.checking.subject import Subject
    from pi_core import PluginHost

__all__ = ["check_plugin"]

_SIGNS = {"error": "!", "warning": "?", "note": "-"}


def check_plugin(
    text: str, host: PluginHost, *, strict: bool, with_tests: bool, against: str | None, as_json: bool
) -> int:
    """Check a plugin and print the findings; return 1 if it fails.

    Args:
        text: The name of the plugin, or the path of its folder, wheel or file.
        host: The installed plugins; names that conflict with them are reported.
        strict: Warnings fail it, too.
        with_tests: Run its tests.
        against: A version of the contract, or its path; None for the current one.
        as_json: Print an object.

    Raises:
        UserError: No such plugin or contract exists.
    """
    if is_script(Path(text)) and Path(text).is_file():
        return _check_script(Path(text), host, strict=strict, as_json=as_json)
    contract = read_contract(against) if against is not None else None
    with TemporaryDirectory(prefix="pi-check-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        subject = find_subject(text, host, scratch)
        findings = [*check_metadata(subject), *check_sources(subject, contract)]
        answer: dict[str, Any] = {}
        milliseconds = None
        if subject.plugins:
            imported, milliseconds = check_import(subject, scratch)
            findings += imported
        if milliseconds is not None:
            asked, answer = check_contract(subject, host, scratch)
            findings += asked
        findings += check_tests(subject, answer, scratch if with_tests else None)
    passed = _passes(findings, strict=strict)
    result = _result(subject, findings, answer, milliseconds, passed=passed)
    if as_json:
        print_json(result)
    else:
        print_lines(*_lines(result, findings, strict=strict))
    return 0 if passed else 1


def _check_script(file: Path, host: PluginHost, *, strict: bool, as_json: bool) -> int:
    """Check an extension in another language, by the plugin that runs such files.

    Raises:
        UserError: No plugin runs them, or checks them.
    """
    languages = [each.thing for each in host.services("ExtensionLanguage") if hasattr(each.thing, "check")]
    language = next((each for each in reversed(languages) if file.name.endswith(tuple(each.suffixes))), None)
    if language is None:
        raise UserError(f"no installed plugin can check files such as {file.name}")
    findings = [Finding("import", level, text) for level, text in language.check(file, host.settings)]
    passed = _passes(findings, strict=strict)
    if as_json:
        rows = [each.to_plain() for each in findings]
        print_json({"plugins": [file.stem], "checked": str(file), "passed": passed, "findings": rows})
    else:
        lines = [f"  {_SIGNS[each.level]} {one_line(each.message)}" for each in findings]
        print_lines(one_line(str(file)), *lines, "Passed" if passed else "Failed")
    return 0 if passed else 1


def _passes(findings: list[Finding], *, strict: bool) -> bool:
    failing = ("error", "warning") if strict else ("error",)
    return not any(each.level in failing for each in findings)


def _result(
    subject: Subject, findings: list[Finding], answer: dict[str, Any], milliseconds: float | None, *, passed: bool
) -> dict[str, Any]:
    return {
        "plugins": [*subject.plugins],
        "distribution": subject.name or None,
        "version": subject.version if subject.name else None,
        "checked": subject.origin,
        "passed": passed,
        "importMs": round(milliseconds, 2) if milliseconds is not None else None,
        "hooks": {plugin: len({call["hook"] for call in each["calls"]}) for plugin, each in answer.items()},
        "toolTokens": sum(tool["tokens"] for each in answer.values() for tool in each["tools"]),
        "findings": [each.to_plain() for each in findings],
    }


def _lines(result: dict[str, Any], findings: list[Finding], *, strict: bool) -> Iterator[str]:
    names = ", ".join(result["plugins"]) or "no plugin"
    of = f" of {result['distribution']} {result['version']}" if result["distribution"] else ""
    yield one_line(f"{names}{of}, {result['checked']}")
    for part in PARTS:
        found = [each for each in findings if each.part == part]
        yield f"  {part:<9} {_summary(part, found, result)}"
        for each in found:
            place = f" ({each.place})" if each.place else ""
            yield "    " + one_line(f"{_SIGNS[each.level]} {each.message}{place}")
    counts = {level: sum(each.level == level for each in findings) for level in ("error", "warning")}
    total = ", ".join(f"{number} {level}{'' if number == 1 else 's'}" for level, number in counts.items())
    yield f"{'Passed' if result['passed'] else 'Failed'}: {total}{', and warnings count (--strict)' if strict else ''}"


def _summary(part: str, found: list[Finding], result: dict[str, Any]) -> str:
    levels = {each.level for each in found}
    state = "failed" if "error" in levels else "warnings" if "warning" in levels else "ok"
    if part == "import" and result["importMs"] is not None:
        return f"{state}, {result['importMs']:.1f} ms"
    if part == "import" and not found:
        return "left out: there is nothing to import"
    if part == "contract":
        if not result["hooks"] and not found:
            return "left out: the plugin cannot be imported"
        asked = sum(result["hooks"].values())
        tokens = f", tools of about {result['toolTokens']} tokens" if result["toolTokens"] else ""
        return f"{state}, {asked} hook{'' if asked == 1 else 's'} called{tokens}"
    return state
