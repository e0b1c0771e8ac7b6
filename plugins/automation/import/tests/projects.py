# ruff: noqa: E501 - files of others are as they are
"""Homes and projects as users of other agents have them: three for each agent, with what becomes of every part."""

from __future__ import annotations

import json
from typing import Any

Files = dict[str, str]
Outcomes = dict[str, str]

SECRET = "sk-live-0123456789abcdefSECRET"
"""The key in all files; it must be in none of pi's."""

TAKEN, DIFFERENT, HERE, NOT = "taken", "differently", "already", "not"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


CLAUDE_WEB: tuple[Files, Outcomes] = (
    {
        "CLAUDE.md": "# Shop\nUse pnpm. See @docs/style.md\n",
        "CLAUDE.local.md": "My port is 4000.\n",
        "docs/style.md": "Two spaces.\n",
        ".claude/rules/tests.md": "Every change has a test.\n",
        ".claude/rules/api.md": "---\npaths:\n  - src/api/**/*.ts\n---\nValidate inputs.\n",
        ".claude/commands/deploy.md": "---\ndescription: Deploy\n---\nDeploy $ARGUMENTS\n",
        ".claude/commands/db/migrate.md": "---\nallowed-tools: Bash(pnpm:*)\n---\nState: !`pnpm db:status`\nMigrate $1\n",
        ".claude/agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews\n---\nReview.\n",
        ".claude/skills/release/SKILL.md": "---\nname: release\ndescription: Release it\n---\nTag.\n",
        ".claude/settings.json": _json(
            {
                "permissions": {
                    "allow": ["Bash(pnpm test:*)", "Edit(src/**)", "WebFetch(domain:docs.example)"],
                    "deny": ["Read(./.env)", "Read(./secrets/**)", "mcp__db__drop"],
                    "ask": ["Bash(git push:*)"],
                },
                "hooks": {
                    "PreToolUse": [
                        {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5}]}
                    ],
                    "PostToolUse": [
                        {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "pnpm prettier"}]}
                    ],
                    "TeammateIdle": [{"hooks": [{"type": "command", "command": "true"}]}],
                },
                "enabledMcpjsonServers": ["db"],
            }
        ),
        ".mcp.json": _json({"mcpServers": {"db": {"command": "db-mcp"}}}),
    },
    {
        "instructions CLAUDE.md": HERE,
        "instructions CLAUDE.local.md": HERE,
        "instructions tests.md": HERE,
        "instructions api.md": DIFFERENT,
        "command /deploy": TAKEN,
        "command /migrate": DIFFERENT,
        "agent reviewer": HERE,
        "skill release": TAKEN,
        "permission allow Bash(pnpm test:*)": NOT,
        "permission allow Edit(src/**)": NOT,
        "permission allow WebFetch(domain:docs.example)": NOT,
        "permission deny Read(./.env)": DIFFERENT,
        "permission deny Read(./secrets/**)": DIFFERENT,
        "permission deny mcp__db__drop": TAKEN,
        "permission ask Bash(git push:*)": TAKEN,
        "setting guardrails.enabled": DIFFERENT,
        "hook PreToolUse Bash: ./guard.sh": TAKEN,
        "hook PostToolUse Edit|Write: pnpm prettier": TAKEN,
        "hook TeammateIdle: true": NOT,
        "mcp db": HERE,
    },
)

CLAUDE_HOME: tuple[Files, Outcomes] = (
    {
        "~/.claude/CLAUDE.md": "Answer briefly. @style.md\n",
        "~/.claude/style.md": "No emoji.\n",
        "~/.claude/commands/standup.md": "What did I do? $0 then $1\n",
        "~/.claude/skills/tides/SKILL.md": "---\nname: tides\ndescription: Tides\n---\nx\n",
        "~/.claude/settings.json": _json(
            {
                "model": "sonnet",
                "env": {"ANTHROPIC_API_KEY": SECRET, "MAX_THINKING_TOKENS": "9000"},
                "permissions": {"defaultMode": "plan", "allow": ["Bash", "mcp__github"]},
                "hooks": {"Notification": [{"hooks": [{"type": "command", "command": "say hi"}]}]},
                "statusLine": {"type": "command", "command": "~/.claude/line.sh"},
                "effortLevel": "high",
            }
        ),
        "~/.claude.json": _json(
            {
                "mcpServers": {
                    "github": {
                        "type": "http",
                        "url": "https://mcp.example",
                        "headers": {"Authorization": f"Bearer {SECRET}"},
                    },
                    "local": {"command": "npx", "args": ["-y", "x", "--api-key", SECRET], "env": {"X_TOKEN": SECRET}},
                },
                "oauthAccount": {"emailAddress": "a@example.org"},
            }
        ),
        "~/.claude/.credentials.json": _json({"claudeAiOauth": {"accessToken": SECRET}}),
    },
    {
        "instructions CLAUDE.md": DIFFERENT,
        "command /standup": DIFFERENT,
        "skill tides": TAKEN,
        "model sonnet": DIFFERENT,
        "provider anthropic": TAKEN,
        "key ANTHROPIC_API_KEY": NOT,
        "setting env MAX_THINKING_TOKENS": NOT,
        "permission defaultMode plan": NOT,
        "permission allow Bash": NOT,
        "permission allow mcp__github": TAKEN,
        "setting guardrails.enabled": DIFFERENT,
        "hook Notification: say hi": DIFFERENT,
        "setting statusLine": NOT,
        "setting effort high": TAKEN,
        "mcp github": DIFFERENT,
        "mcp local": DIFFERENT,
        "key .credentials.json": NOT,
    },
)

CLAUDE_OLD: tuple[Files, Outcomes] = (
    {
        "AGENTS.md": "For all agents.\n",
        "CLAUDE.md": "@AGENTS.md\n",
        ".claude/settings.local.json": '{\n  // mine\n  "permissions": {"allow": ["Bash(make:*)",]},\n}',
        ".claude/settings.json": "{not json",
        ".claude/output-styles/terse.md": "Terse.",
        ".claude/commands/bad name.md": "x",
        "~/.claude/settings.json": _json({"disableAllHooks": True, "apiKeyHelper": "pass show key"}),
    },
    {
        "instructions CLAUDE.md": DIFFERENT,
        "permission allow Bash(make:*)": NOT,
        "setting settings.json": NOT,
        "instructions output-styles": NOT,
        "command /bad name": NOT,
        "hook all hooks": NOT,
        "setting apiKeyHelper": NOT,
    },
)

CODEX_HOME: tuple[Files, Outcomes] = (
    {
        "~/.codex/AGENTS.md": "Be exact.\n",
        "~/.codex/prompts/draftpr.md": "---\ndescription: Draft\nargument-hint: FILES\n---\nDraft a PR of $1\n",
        "~/.codex/config.toml": f"""
model = "gpt-5.2"
model_provider = "proxy"
model_reasoning_effort = "high"
model_context_window = 200000
approval_policy = "on-request"
sandbox_mode = "workspace-write"
notify = ["notify-send", "codex"]

[model_providers.proxy]
name = "Proxy"
base_url = "https://proxy.example/v1"
env_key = "PROXY_KEY"
wire_api = "responses"
http_headers = {{ X-Team = "shop", X-Api-Key = "{SECRET}" }}
env_http_headers = {{ X-Org = "ORG" }}

[mcp_servers.docs]
command = "docs-mcp"
env = {{ DOCS_TOKEN = "{SECRET}" }}

[projects."/work"]
trust_level = "trusted"
""",
        "~/.codex/rules/default.rules": (
            'prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt", justification = "others see it")\n'
            'prefix_rule(pattern = ["rm"], decision = "forbidden")\n'
            'host_executable(name = "git")\n'
        ),
        "~/.codex/auth.json": _json({"OPENAI_API_KEY": SECRET}),
    },
    {
        "instructions AGENTS.md": TAKEN,
        "command /draftpr": TAKEN,
        "provider proxy": DIFFERENT,
        "model gpt-5.2": TAKEN,
        "setting effort high": TAKEN,
        "setting approval_policy": NOT,
        "setting sandbox_mode": NOT,
        "setting notify": NOT,
        "permission forbidden rm": TAKEN,
        "permission prompt git push|fetch": TAKEN,
        "permission host_executable(name='git')": NOT,
        "setting guardrails.enabled": DIFFERENT,
        "key auth.json": NOT,
        "mcp docs": DIFFERENT,
    },
)

CODEX_PROJECT: tuple[Files, Outcomes] = (
    {
        "AGENTS.md": "Run just check.\n",
        ".agents/skills/lint/SKILL.md": "---\nname: lint\ndescription: Lint\n---\nx\n",
        ".codex/config.toml": 'model = "gpt-5.2"\n[model_providers.x]\nbase_url = "http://x"\n',
        ".codex/hooks.json": _json(
            {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "just check", "timeout": 30}]}]}}
        ),
    },
    {
        "instructions AGENTS.md": HERE,
        "skill skills": HERE,
        "model gpt-5.2": TAKEN,
        "provider openai": TAKEN,
        "provider x": NOT,
        "hook Stop: just check": TAKEN,
    },
)

CODEX_BROKEN: tuple[Files, Outcomes] = (
    {
        "~/.codex/config.toml": 'model = "gpt-5.2\n',
        "~/.codex/rules/x.rules": "prefix_rule(pattern = make(), decision = ",
        "~/.codex/prompts/a/b.md": "Nested",
    },
    {"setting config.toml": NOT, "permission x.rules": NOT, "command /b": TAKEN, "mcp servers": NOT},
)


def _opencode_files(session: str, *turns: tuple[str, str], **about: Any) -> Files:
    """Return a conversation as older versions of opencode store it: a file for each session, message and part."""
    storage = "~/.local/share/opencode/storage"
    head = {"id": session, "directory": "@WORK@", "title": f"Title of {session}", "time": {"created": 1}, **about}
    files = {f"{storage}/session/project/{session}.json": _json(head)}
    for number, (role, text) in enumerate(turns):
        message = f"msg_{session}_{number}"
        info = {"role": role, "time": {"created": 1_795_721_299_413 + number}, "providerID": "x", "modelID": "m"}
        files[f"{storage}/message/{session}/{message}.json"] = _json(info)
        files[f"{storage}/part/{message}/prt_1.json"] = _json({"type": "text", "text": text})
    return files


def _gemini_chat(name: str, *turns: tuple[str, str]) -> Files:
    """Return a conversation as older versions of Gemini CLI store it: one file, in a folder named by a hash."""
    messages = [
        {"id": str(number), "type": kind, "content": text, "timestamp": "2025-09-02T10:00:00.000Z"}
        for number, (kind, text) in enumerate(turns)
    ]
    chat = {"sessionId": name, "projectHash": "@HASH@", "messages": messages}
    return {f"~/.gemini/tmp/@HASH@/chats/session-2025-09-02T10-00-{name}.json": _json(chat)}


AIDER_CHAT = """
# aider chat started at 2025-01-05 10:11:12

> Aider v0.86.2  
> Model: anthropic/claude-sonnet-4-5 with diff edit format, infinite output  

#### /add app.py  
> Added app.py to the chat  

#### Rename it  
####   
#### to main  

I rename it.

#### Steps

> a quotation

> Applied edit to app.py  
"""  # noqa: W291 - so does aider end its lines

OPENCODE_HOME: tuple[Files, Outcomes] = (
    {
        "~/.config/opencode/AGENTS.md": "Short answers.\n",
        "~/.config/opencode/command/test.md": "---\ndescription: Test\nagent: build\n---\nRun !`npm test` on $ARGUMENTS\n",
        "~/.config/opencode/agent/docs.md": (
            "---\ndescription: Writes docs\nmode: subagent\nmodel: x/y\ntools:\n  bash: false\n---\nWrite docs.\n"
        ),
        "~/.config/opencode/plugin/x.js": "export {}",
        "~/.config/opencode/opencode.jsonc": f"""{{
  // mine
  "$schema": "https://opencode.ai/config.json",
  "model": "lab/qwen",
  "provider": {{
    "lab": {{
      "npm": "@ai-sdk/openai-compatible",
      "name": "Lab",
      "options": {{"baseURL": "http://lab:8000/v1", "apiKey": "{{env:LAB_KEY}}", "headers": {{"X-Secret": "{SECRET}"}}}},
      "models": {{"qwen": {{"name": "Qwen", "limit": {{"context": 32768, "output": 4096}}}}}},
    }},
    "openrouter": {{"options": {{"apiKey": "{SECRET}"}}}},
    "odd": {{"npm": "@ai-sdk/cohere"}},
  }},
  "permission": {{"edit": "ask", "bash": {{"*": "allow", "git push *": "ask", "rm *": "deny"}}, "webfetch": "deny"}},
  "mcp": {{"ctx": {{"type": "remote", "url": "https://ctx.example?api_key={SECRET}"}}}},
  "plugin": ["x"],
}}""",
        "~/.local/share/opencode/auth.json": _json({"anthropic": {"type": "api", "key": SECRET}}),
        **_opencode_files("ses_1", ("user", "Why?"), ("assistant", "Because.")),
        **_opencode_files("ses_2", ("user", "Why?"), ("assistant", "Because."), directory="/elsewhere"),
    },
    {
        "session Title of ses_1": TAKEN,
        "instructions AGENTS.md": TAKEN,
        "command /test": DIFFERENT,
        "agent docs": DIFFERENT,
        "setting plugin": NOT,
        "provider lab": DIFFERENT,
        "provider openrouter": DIFFERENT,
        "provider odd": NOT,
        "model qwen": TAKEN,
        "permission ask edit": TAKEN,
        "permission allow bash *": NOT,
        "permission ask bash git push *": TAKEN,
        "permission deny bash rm *": TAKEN,
        "permission deny webfetch": TAKEN,
        "setting guardrails.enabled": DIFFERENT,
        "mcp ctx": DIFFERENT,
        "key auth.json": NOT,
    },
)

OPENCODE_PROJECT: tuple[Files, Outcomes] = (
    {
        "AGENTS.md": "Project.\n",
        "docs/a.md": "A\n",
        "docs/b.md": "B\n",
        "prompts/review.txt": "Review it.",
        "opencode.json": _json(
            {
                "instructions": ["docs/*.md", "AGENTS.md", "https://x.example/rules.md", "missing.md"],
                "command": {"fix": {"template": "Fix $1", "description": "Fix"}, "bad": {}},
                "agent": {
                    "review": {"description": "Reviews", "prompt": "{file:./prompts/review.txt}", "mode": "subagent"},
                    "plan": {"mode": "primary", "description": "Plans", "prompt": "Plan"},
                },
                "provider": {"x": {"npm": "@ai-sdk/openai"}},
                "mcp": {"tool": {"type": "local", "command": ["t", "-v"], "environment": {"A": "b"}}},
                "formatter": {"x": {}},
            }
        ),
        **_opencode_files("ses_3", ("user", "Not answered")),
        **_opencode_files("ses_4", ("user", "A task"), ("assistant", "Of a subagent"), parentID="ses_3"),
    },
    {
        "session ses_3": NOT,
        "instructions AGENTS.md": HERE,
        "instructions a.md": TAKEN,
        "instructions b.md": TAKEN,
        "instructions https://x.example/rules.md": NOT,
        "instructions missing.md": NOT,
        "command /fix": TAKEN,
        "command /bad": NOT,
        "agent review": TAKEN,
        "agent plan": NOT,
        "provider x": NOT,
        "mcp tool": TAKEN,
        "setting formatter": NOT,
    },
)

OPENCODE_SMALL: tuple[Files, Outcomes] = (
    {
        "opencode.json": _json({"permission": "ask", "model": "nowhere/nothing", "share": "auto"}),
        "~/.local/share/opencode/opencode.db": "not a database",
        "~/.local/share/opencode/storage/session/p/ses_5.json": "{",
    },
    {
        "session opencode.db": NOT,
        "permission ask *": TAKEN,
        "setting guardrails.enabled": DIFFERENT,
        "model nowhere/nothing": NOT,
        "setting share": NOT,
    },
)

GEMINI_HOME: tuple[Files, Outcomes] = (
    {
        "~/.gemini/GEMINI.md": "Terse. @rules.md\n",
        "~/.gemini/rules.md": "No emoji.\n",
        "~/.gemini/commands/git/commit.toml": 'description = "Commit"\nprompt = "Commit: !{git diff} {{args}}"\n',
        "~/.gemini/settings.json": _json(
            {
                "model": {"name": "gemini-2.5-pro"},
                "tools": {"exclude": ["run_shell_command(rm)"], "allowed": ["run_shell_command(git status)"]},
                "mcpServers": {
                    "maps": {"httpUrl": "https://m.example", "headers": {"X-Goog-Api-Key": SECRET}, "timeout": 5000}
                },
                "ui": {"theme": "GitHub"},
            }
        ),
        "~/.gemini/oauth_creds.json": _json({"access_token": SECRET}),
        "~/.gemini/tmp/work/.project_root": "@WORK@",
        "~/.gemini/tmp/work/chats/session-2026-11-26T19-33-e2f66184.jsonl": (
            '{"sessionId": "e2f66184-150b-44c1-818c-6eb042b3ca07", "projectHash": "@HASH@", "kind": "main"}\n'
            '{"id": "1", "timestamp": "2026-11-26T19:33:39.164Z", "type": "user", "content": [{"text": "Why?"}]}\n'
            '{"id": "2", "timestamp": "2026-11-26T19:33:39.597Z", "type": "gemini", "content": "Because."}\n'
            '{"$set": {"summary": "The reason"}}\n'
        ),
    },
    {
        "session The reason": TAKEN,
        "instructions GEMINI.md": DIFFERENT,
        "command /git:commit": DIFFERENT,
        "model gemini-2.5-pro": TAKEN,
        "provider google": TAKEN,
        "permission deny run_shell_command(rm)": TAKEN,
        "permission allow run_shell_command(git status)": TAKEN,
        "setting guardrails.enabled": DIFFERENT,
        "mcp maps": DIFFERENT,
        "setting ui": NOT,
        "key oauth_creds.json": NOT,
    },
)

GEMINI_PROJECT: tuple[Files, Outcomes] = (
    {
        "GEMINI.md": "# App\n",
        ".gemini/settings.json": _json(
            {
                "hooks": {
                    "BeforeTool": [
                        {
                            "matcher": "write_file|replace",
                            "hooks": [{"type": "command", "command": "./check.sh", "name": "check", "timeout": 5000}],
                        }
                    ],
                    "BeforeModel": [{"hooks": [{"type": "command", "command": "x"}]}],
                },
                "tools": {"core": ["read_file"], "sandbox": "docker"},
            }
        ),
        ".gemini/agents/scout.md": "---\nname: scout\ndescription: Looks\ntools:\n  - read_file\n  - glob\n---\nLook.\n",
        ".gemini/commands/broken.toml": "prompt = ",
        **_gemini_chat("a1", ("user", "Look here"), ("info", "Update available"), ("gemini", "One file.")),
        **_gemini_chat("a2", ("user", "/help"), ("info", "Commands")),
    },
    {
        "session Look here": TAKEN,
        "session a2": NOT,
        "instructions GEMINI.md": TAKEN,
        "hook BeforeTool write_file|replace: ./check.sh": TAKEN,
        "hook BeforeModel: x": NOT,
        "permission tools.core read_file": NOT,
        "setting tools.sandbox": NOT,
        "agent scout": TAKEN,
        "command /broken": NOT,
    },
)

GEMINI_OLD: tuple[Files, Outcomes] = (
    {
        "AGENTS.md": "A\n",
        ".gemini/settings.json": _json(
            {"contextFileName": ["AGENTS.md", "NOTES.md"], "excludeTools": ["ShellTool"], "model": "gemini-2.5-flash"}
        ),
        "NOTES.md": "N\n",
        "~/.gemini/tmp/@HASH@/chats/session-1.json": "{",
        "~/.gemini/tmp/other/.project_root": "/elsewhere",
        "~/.gemini/tmp/other/chats/session-2.json": "{}",
    },
    {
        "session session-1": NOT,
        "instructions AGENTS.md": HERE,
        "instructions NOTES.md": TAKEN,
        "permission deny ShellTool": TAKEN,
        "setting guardrails.enabled": DIFFERENT,
        "model gemini-2.5-flash": TAKEN,
        "provider google": TAKEN,
    },
)

AIDER_HOME: tuple[Files, Outcomes] = (
    {
        "~/.aider.conf.yml": (
            f"model: sonnet\nopenai-api-key: {SECRET}\napi-key:\n  - gemini={SECRET}\nread: [CONVENTIONS.md]\n"
            'auto-commits: false\nlint-cmd:\n  - "python: ruff check"\nreasoning-effort: high\n'
        ),
        "~/CONVENTIONS.md": "Type hints.\n",
        ".aider.chat.history.md": AIDER_CHAT,
    },
    {
        "session Rename it to main": DIFFERENT,
        "instructions CONVENTIONS.md": TAKEN,
        "model sonnet": DIFFERENT,
        "provider anthropic": TAKEN,
        "setting effort high": TAKEN,
        "key openai-api-key": NOT,
        "key api-key gemini": NOT,
        "setting auto-commits": NOT,
        "setting lint-cmd": NOT,
    },
)

AIDER_PROJECT: tuple[Files, Outcomes] = (
    {
        ".aider.conf.yml": "---\nmodel: gemini/gemini-2.5-pro\nread:\n  - CONVENTIONS.md\n  - gone.md\ntest_cmd: pytest\n",
        "CONVENTIONS.md": "PEP 8.\n",
        ".aiderignore": "dist\n",
        ".aider.chat.history.md": AIDER_CHAT + AIDER_CHAT.replace("10:11:12", "12:00:00").replace("Rename", "Move"),
    },
    {
        "instructions CONVENTIONS.md": TAKEN,
        "instructions gone.md": NOT,
        "model gemini/gemini-2.5-pro": DIFFERENT,
        "provider google": TAKEN,
        "setting test-cmd": NOT,
        "setting .aiderignore": NOT,
        "session Rename it to main": DIFFERENT,
        "session Move it to main": DIFFERENT,
    },
)

AIDER_LOCAL: tuple[Files, Outcomes] = (
    {
        "~/.aider.conf.yml": "model: openai/llama-3\nopenai-api-base: http://gpu:8000/v1\n",
        ".aider.conf.yml": "read: [unclosed\n",
        ".aider.chat.history.md": "# notes of mine\n",
        "CONVENTIONS.md": "x\n",
    },
    {
        "provider aider": DIFFERENT,
        "model llama-3": TAKEN,
        "setting .aider.conf.yml": NOT,
        "instructions CONVENTIONS.md": NOT,
    },
)

PROJECTS: dict[str, tuple[str, tuple[Files, Outcomes]]] = {
    "claude web": ("claude", CLAUDE_WEB),
    "claude home": ("claude", CLAUDE_HOME),
    "claude old": ("claude", CLAUDE_OLD),
    "codex home": ("codex", CODEX_HOME),
    "codex project": ("codex", CODEX_PROJECT),
    "codex broken": ("codex", CODEX_BROKEN),
    "opencode home": ("opencode", OPENCODE_HOME),
    "opencode project": ("opencode", OPENCODE_PROJECT),
    "opencode small": ("opencode", OPENCODE_SMALL),
    "gemini home": ("gemini", GEMINI_HOME),
    "gemini project": ("gemini", GEMINI_PROJECT),
    "gemini old": ("gemini", GEMINI_OLD),
    "aider home": ("aider", AIDER_HOME),
    "aider project": ("aider", AIDER_PROJECT),
    "aider local": ("aider", AIDER_LOCAL),
}
