"""The processes that make sure no command outlives pi (Linux). They use the standard library alone.

```text
pi ─────────── guardian             one per pi, started with its first command; the subreaper of last resort
  └─socket──── supervisor           its child; forks the keepers
  └─socket──── keeper               one per command, forked (0.5 ms); the subreaper of that command's tree
                 └─ the command     a session of its own; whatever it starts stays below its keeper
```
Every descendant of a command, ``setsid`` or not, stays below its keeper, because orphans go to the nearest
subreaper. A keeper's socket is connected to pi: a byte on it is a request, its end is the end of pi, however it
died. So no process has to be found by name, group or session, and no clean shutdown of pi is needed.

A command can kill or stop its supervisors. A keeper that is killed leaves its tree to the supervisor, and a killed
supervisor leaves everything to the guardian; both end inherited processes. Each continues what is stopped (SIGSTOP) one
level below, and a keeper that has not ended its tree in time, after a request or because pi is gone, is killed by the
supervisor.

pi's requests to the supervisor are marshalled values after their length: with four descriptors (the keeper's socket,
output, error and the reading end of the output), or five (the standard input, too), a program to start, without any the
number of a keeper to kill.

Requests to a keeper: ``k`` end the tree, ``d`` read and discard the tree's output, ``r`` let the tree live when the
socket ends. Answers, one per line: ``S pid keeper`` started, ``F stage errno`` not started, ``X status left``
the command ended with this wait status, and ``left`` is 1 if something of it still runs.

pi starts ``service.main`` with this folder as a package of its own, not as a part of ``pi_process_kit``, whose imports
it would pay for: the modules here import each other relatively, and nothing else of the project.
"""
