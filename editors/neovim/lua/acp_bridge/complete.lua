--- Completion: agent names for commands, the agent's `/commands` in a prompt.

local client = require('acp_bridge.client')
local sessions = require('acp_bridge.sessions')

local M = {}

--- `-complete` of commands that take an agent
---@param lead string
---@return string[]
function M.agents(lead)
  local found = {}
  for _, agent in ipairs(client.agents_now()) do
    if agent.enabled and vim.startswith(agent.id, lead) then
      table.insert(found, agent.id)
    end
  end
  return found
end

--- 'omnifunc' of the prompt (|complete-functions|)
---@param findstart integer
---@param base string
---@return integer|table[]
function M.omnifunc(findstart, base)
  if findstart == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local start = before:find('/[^%s/]*$')
    return start and (start - 1) or -3
  end
  local session = sessions.current()
  local found = {}
  for _, command in ipairs(session and session.summary.commands or {}) do
    local word = '/' .. command.name
    if vim.startswith(word, base) then
      table.insert(found, { word = word, menu = command.description or '' })
    end
  end
  return found
end

return M
