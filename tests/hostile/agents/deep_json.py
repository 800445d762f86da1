"""Fault: JSON nested so deep that recursive parsers give up, as notification and as request; and every depth
around the limits of parsers and writers, which differ."""

from well_behaved import SESSION, end, raw, serve, text

DEEP = b"[" * 200_000 + b"]" * 200_000


def prompt(message):
    text("before ")
    head = (
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":' % SESSION.encode()
    )
    raw(head + b'{"sessionUpdate":"tool_call","toolCallId":"t","title":"deep","rawInput":' + DEEP + b"}}}\n")
    raw(head + DEEP + b"}}\n")
    raw(b'{"jsonrpc":"2.0","id":"deep","method":"_deep","params":' + DEEP + b"}\n")
    raw(DEEP + b"\n")
    for depth in (*range(150, 900, 50), *range(900, 1000)):
        some = b'{"command":' + b"[" * depth + b"]" * depth + b"}"
        call = b'"toolCallId":"d%d","title":"deep","rawInput":' % depth + some
        raw(head + b'{"sessionUpdate":"tool_call",' + call + b"}}}\n")
        raw(head + b'{"sessionUpdate":"odd","more":' + some + b"}}}\n")
    text("after")
    end(message)


serve(prompt)
