--- Folds of a chat: thoughts, long outputs and long diffs, closed until opened.

local sessions = require('acp_bridge.sessions')

local M = {}

---@return acp_bridge.Line?
local function line_at(lnum)
  local session = sessions.get(vim.b.acp_bridge_session or '')
  local view = session and session.chat and session.chat.view
  if view then
    local _, line = view:at(lnum)
    return line
  end
end

--- 'foldexpr'
---@return string|integer
function M.expr()
  local line = line_at(vim.v.lnum)
  return line and line.fold or 0
end

--- 'foldtext'
---@return table
function M.text()
  local first = line_at(vim.v.foldstart)
  local text = vim.fn.getline(vim.v.foldstart)
  local lines = vim.v.foldend - vim.v.foldstart + 1
  local group = first and first.marks[#first.marks] and first.marks[#first.marks][3] or 'AcpBridgeMuted'
  return { { text, group }, { ('  … %d lines, za opens'):format(lines), 'AcpBridgeMuted' } }
end

return M
