"""The Agent Client Protocol as a dialect (v1; v2 fits beside it on the same events).

A sans-I/O codec with a thin agent around it: `chunks` (hot path), `updates` with `tools` and `options` (what
the agent says), `requests` (what it asks), `handshake`, `sessions` and `faults` (what answers mean),
`prepare` (how it is started), `agent` (the running program).
"""
