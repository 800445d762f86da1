"""The editor protocol, all of it: every shape that crosses the LSP connection under `acp/` and `acpBridge.`.

`docs/editor-protocol.schema.json` and `editors/vscode/src/protocol.ts` are generated from this package
(`python -m acp_bridge.faces.lsp.generate`); docs/editor-protocol.md says in words what the shapes mean.
Wire names are camelCase. Unknown fields are ignored, except in the shapes that keep an agent's own words
(subclasses of `base.Kept`). Lines are 0-based, ranges as in LSP in the negotiated encoding, times RFC 3339
with Z.
"""

VERSION = 1
