"""Floor 0: bytes to messages and back, JSON-RPC 2.0 over newline-delimited JSON or Content-Length frames.

Knows neither ACP nor LSP. `framing` and `peer` do no I/O (bytes in, handler calls and bytes out);
`transport` and `threads` are the two thin backends that move the bytes.
"""
