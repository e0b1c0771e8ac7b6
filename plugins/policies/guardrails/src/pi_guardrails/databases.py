"""What destroys the contents of databases: statements of SQL and of other query languages, and commands of Redis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_guardrails.call import Call, Judgement

__all__ = ["SQL_CLIENTS", "redis", "sql_danger"]

SQL_CLIENTS = frozenset(
    "psql mysql mariadb sqlite3 sqlcmd clickhouse-client clickhouse cockroach duckdb sqlplus cqlsh pgcli mycli litecli "
    "usql trino presto hive beeline snowsql bq isql tsql vsql impala-shell spark-sql turso d1 pg:psql influx "
    "cypher-shell mssql-cli osql rqlite ysqlsh db2 sqlline dbshell sqlq sql-query sql:query databricks sqlite surreal "
    "edgedb gel wp drush".split()
)

_NAME = r"[\w.\"'`\[\]$-]+"
_SQL = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), why)
    for pattern, why in (
        (
            (
                r"\\!|(^|\n|-cmd )\s*(\.(shell|system|output|once|load|import|excel|log|restore|archive)|system\b"
                r"|\\o\b)"
                r"|\bto\s+program\b|\binto\s+(out|dump)file\b|load_extension|\bwritefile\s*\(|\bvacuum\s+into\b"
                r"|\blo_(export|import)\s*\(|\bxp_cmdshell\b|\bsp_oacreate\b|\butl_file\b|\bsys_exec\s*\("
                r"|\bcopy\b[^;]*\bto\s+['\"](/|~|\.\./)|\\copy\b[^;]*\bto\s+['\"]?(/|~|\.\./)|\bcreate\s+(extension|function)\b"
                r"[^;]*\bplp(ython|erl)u\b|\battach\b[^;]*['\"](/|~|\.\./)"
            ),
            "runs a command, or writes a file",
        ),
        (
            (
                r"\bpg_read_(binary_)?file\s*\(|\bpg_ls_dir\s*\(|\bload\s+data\b|\bload_file\s*\(|\bopenrowset\b"
                r"|\b(authentication_string|rolpassword|passwd)\b|\bpg_(authid|shadow)\b"
            ),
            "reads files of the computer, or passwords",
        ),
        (r"\bdrop\s+(database|schema|table|keyspace|catalog|warehouse)\b", "drops a database, schema or table"),
        (
            (
                r"\balter\s+(foreign\s+)?table\s+(if\s+exists\s+)?(only\s+)?\S+(\s+on\s+cluster\s+\S+)?\s+(drop|delete|clear)\b"
            ),
            "drops a part of a table",
        ),
        (
            (
                r"\bdrop\s+(aggregate|bucket|cast|collation|collection|column|constraint|continuous|conversion|domain|event"
                r"|extension|foreign|function|graph|index|label|language|materialized|measurement|operator|owned|policy"
                r"|procedure|publication|retention|role|routine|rule|sequence|series|server|shard|stage|stream|subscription"
                r"|tablespace|task|text|topology|transform|trigger|type|user|view)\b"
            ),
            "drops a part of a database",
        ),
        (
            rf"\bupdate\s+(only\s+|ignore\s+)?{_NAME}(\s+(as\s+)?\w+)?\s+set\b(?![^;]*\bwhere\b)",
            "changes every row of a table",
        ),
        (
            (
                r"\bgrant\s+all\b|\bsuperuser\b|\bgrant\s+[\w\s]+\bto\s+public\b|\breassign\s+owned\b|\brevoke\s+\w+[^;]*\bfrom\b"
                r"|\balter\s+(user|role|login)\b|\bset\s+password\b|\bidentified\s+by\b|\bbypassrls\b|\bdisable\s+row\s+level\b"
            ),
            "changes who may use a database",
        ),
        (r"\btruncate\s+(table\s+)?\w|\bdelete\s+materialized\b|\bdetach\s+delete\b", "empties a table"),
        (
            (
                rf"\bdelete\s+(?!from\b){_NAME}\s+from\b(?![^;]*\bwhere\b)|\bdelete\s+from\b(?![^;]*\bwhere\b)"
                r"|\bwhen\s+(not\s+)?matched\b[^;]*\bthen\s+delete\b"
            ),
            "deletes every row of a table",
        ),
        (
            (
                r"\b(?:delete\s+from|update)\b[^;]*\b(?:where|or)\s+\(*\s*(?:not\s+(?:false|0)\b"
                r"|(?:true|[1-9]\d*)\s*\)*\s*(?:;|$|or\b|returning\b|['\"]?$)"
                r"|(?P<side>'[^']*'|\"[^\"]*\"|[\w.]+)\s*(?:=|<=|>=|is|like)\s*(?P=side)(?![\w.])|\d+\s*(?:<>|!=|<|>)\s*\d+"
                r"|(?:id|\w+_id)\s+is\s+not\s+null\s*['\"]?(?:;|$)|\w+\s+like\s+['\"]%+['\"]"
                r"|(?:id|\w+_id)\s*>=?\s*[01]\s*['\"]?(?:;|$))"
            ),
            "changes every row of a table, as its condition is always true",
        ),
        (
            (
                r"\b(alter\s+(system|database)\b|reset\s+(master|slave|replica)\b|purge\s+(binary|master)\b|set\s+(global|persist)\b"
                r"|pg_(terminate_backend|reload_conf|drop_replication_slot|rotate_logfile)\s*\(|stop\s+(slave|replica)\b)"
                r"|^\s*shutdown\b|\brename\s+table\b|\balter\s+table\s+\S+\s+rename\b|\bwritable_schema\b"
                r"|\bflush\s+(tables|privileges|logs)\b|\bkill\s+(query\s+|connection\s+)?\d+"
            ),
            "changes the server, or names that others use",
        ),
    )
)

_REDIS_VALUES = re.compile(r"-[hpnauitrdx]|--(user|pass|pattern|bigkeys|cacert|cert|key|sni|tls-\w+)")
_REDIS_ORDINARY = frozenset(
    "append bitcount command dbsize decr decrby echo exists expire expireat expiretime get getbit getdel getex "
    "getrange getset help hello hdel hexists hget hgetall hincrby hkeys hlen hmget hmset hscan hset hsetnx hvals "
    "incr incrby incrbyfloat info keys lindex linsert llen lpop lpos lpush lrange lrem lset memory mget monitor "
    "object persist ping pttl publish psubscribe randomkey role rpop rpush sadd scan scard sdiff set setbit setex "
    "setnx setrange sinter sismember smembers spop srandmember srem sscan strlen subscribe sunion time touch ttl "
    "type xadd xinfo xlen xrange xread xrevrange zadd zcard zcount zincrby zrange zrangebyscore zrank zrem "
    "zrevrange zscan zscore latency slowlog cluster client config acl pubsub function script module ft.search "
    "json.get json.set ts.get mset del unlink".split()
)
_REDIS_LOOKS = {
    "acl": "list users whoami cat getuser log help",
    "client": "list info id getname no-evict help",
    "cluster": "info nodes slots shards keyslot myid help",
    "config": "get help",
    "function": "list dump stats help",
    "latency": "doctor latest history graph help",
    "memory": "usage stats doctor help",
    "module": "list help",
    "pubsub": "channels numsub numpat help",
    "script": "exists load help",
    "slowlog": "get len help",
}
"""Subcommands of Redis that only read, of commands that have others as well."""


def sql_danger(text: str) -> str | None:
    """Describe what a statement would irreversibly do to a database; None if it is harmless."""
    return next((why for pattern, why in _SQL if pattern.search(text)), None)


def redis(call: Call) -> Iterator[Judgement]:
    """Yield findings about ``redis-cli``: commands that are not the ordinary reading and writing of a few keys."""
    words = _redis_command(call)
    texts = [word.lower() for word in words]
    if not texts:
        if call.has_long("--eval", "--pipe", "--cluster", "--functions-rdb", "--replica") or call.command.has_input:
            yield "ask", "database", "it runs Redis commands that are not analysed"
        return
    first, second = texts[0], texts[1] if len(texts) > 1 else ""
    looks = _REDIS_LOOKS.get(first)
    if first not in _REDIS_ORDINARY or (looks is not None and second not in looks.split()):
        yield "ask", "database", f"it changes a whole database, or its server: {' '.join(words[:2])!r}"
    elif first in ("del", "unlink") and any(not word.known or word.globs for word in call.arguments):
        yield "ask", "database", "it deletes keys that are known only at run time"


def _redis_command(call: Call) -> list[str]:
    """Return the command of Redis and its arguments, without the options of ``redis-cli``."""
    texts = call.texts
    while texts and texts[0].startswith("-"):
        if texts[0] in ("--eval", "--pipe", "--cluster", "--scan", "--stat", "--latency", "--help", "--version"):
            return []
        del texts[: 2 if _REDIS_VALUES.fullmatch(texts[0]) else 1]
    return texts
