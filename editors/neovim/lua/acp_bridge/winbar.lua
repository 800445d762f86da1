--- The bars over the chat (agent, state, usage, queue) and over the prompt (keys).

local sessions = require('acp_bridge.sessions')

local M = {}

local STATES = {
  idle = { 'ready', 'AcpBridgeMuted' },
  running = { 'working', 'AcpBridgeRunning' },
  requires_action = { 'needs your permission', 'AcpBridgeAttention' },
  cancelling = { 'cancelling', 'AcpBridgeAttention' },
  detached = { 'stopped; a prompt starts it again', 'AcpBridgeMuted' },
  readonly = { 'read only', 'AcpBridgeMuted' },
}

---@param text any
---@return string
local function plain(text)
  return (tostring(text):gsub('%%', '%%%%'):gsub('%c', ' '))
end

---@param number number
---@return string
local function short(number)
  if number >= 1e6 then
    return ('%.1fM'):format(number / 1e6)
  end
  return number >= 1e3 and ('%.1fk'):format(number / 1e3):gsub('%.0k', 'k') or tostring(number)
end

---@param usage table?
---@return string?
local function usage_text(usage)
  if not usage or not usage.used then
    return nil
  end
  if not usage.size or usage.size == 0 then
    return short(usage.used) .. ' tokens'
  end
  return ('%s/%s (%.0f%%%%)'):format(short(usage.used), short(usage.size), usage.percent or 0)
end

--- The names of the chosen values of options with a list, such as mode and model.
---@param options table[]?
---@return string[]
local function chosen(options)
  local names = {}
  for _, option in ipairs(options or {}) do
    for _, choice in ipairs(option.type == 'select' and option.options or {}) do
      for _, item in ipairs(choice.options or { choice }) do
        if item.value == option.currentValue then
          table.insert(names, plain(item.name or item.value))
        end
      end
    end
  end
  return names
end

---@return acp_bridge.Session?
local function session_here()
  local buf = vim.api.nvim_win_get_buf(vim.g.statusline_winid or 0)
  return sessions.get(vim.b[buf].acp_bridge_session or '')
end

--- 'winbar' of a chat window
---@return string
function M.chat()
  local session = session_here()
  if not session then
    return ''
  end
  local summary = session.summary
  local state = session.ended and { 'the bridge has ended', 'AcpBridgeFailed' }
    or STATES[summary.state]
    or { plain(summary.state), 'AcpBridgeMuted' }
  local parts = { ('%%#AcpBridgeAgent# %s'):format(plain(sessions.agent_name(session))) }
  table.insert(parts, ('%%#%s#%s'):format(state[2], state[1]))
  if summary.title then
    table.insert(parts, '%#AcpBridgeMuted#%<' .. plain(summary.title))
  end
  local right = chosen(summary.configOptions)
  local queue = summary.queue or { items = {} }
  if #queue.items > 0 then
    local held = queue.held and ', held' or ''
    table.insert(right, 1, ('%d queued%s'):format(#queue.items, held))
  end
  table.insert(right, usage_text(summary.usage))
  return table.concat(parts, '  ') .. '%=%#AcpBridgeMuted#' .. table.concat(right, ' · ') .. ' %*'
end

--- 'winbar' of a prompt window
---@return string
function M.prompt()
  local width = vim.api.nvim_win_get_width(vim.g.statusline_winid or 0)
  local keys = width >= 46 and '<C-s> send · <C-c> cancel · g? help' or '<C-s> send · g? help'
  return '%#AcpBridgeUser# Prompt %#AcpBridgeMuted#%= ' .. keys .. ' %*'
end

return M
