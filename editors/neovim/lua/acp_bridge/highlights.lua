--- Highlight groups, all links by default: override any of them with `:highlight`.

local M = {}

local links = {
  AcpBridgeUser = 'Title',
  AcpBridgeUserLine = 'CursorLine',
  AcpBridgeAgent = 'Title',
  AcpBridgeAgentLine = 'CursorLine',
  AcpBridgeThought = 'Comment',
  AcpBridgeTool = 'Function',
  AcpBridgeDetail = 'Comment',
  AcpBridgeMuted = 'NonText',
  AcpBridgePath = 'Directory',
  AcpBridgePending = 'DiagnosticHint',
  AcpBridgeRunning = 'DiagnosticInfo',
  AcpBridgeDone = 'DiagnosticOk',
  AcpBridgeFailed = 'DiagnosticError',
  AcpBridgeCancelled = 'Comment',
  AcpBridgeAttention = 'DiagnosticWarn',
  AcpBridgeStop = 'DiagnosticWarn',
  AcpBridgeAdded = 'Added',
  AcpBridgeRemoved = 'Removed',
  AcpBridgeHunk = 'Comment',
}

function M.define()
  for group, link in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

return M
