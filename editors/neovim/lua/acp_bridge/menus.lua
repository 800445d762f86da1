--- Choices about a session that the bridge offers: its options (mode, model, …) and its queue of prompts.

local notify = require('acp_bridge.notify')
local sessions = require('acp_bridge.sessions')

local M = {}

---@param items table[]
---@param prompt string
---@param kind string
---@param format fun(item: table): string
---@param on_choice fun(item: table)
local function choose(items, prompt, kind, format, on_choice)
  vim.ui.select(items, { prompt = prompt, kind = kind, format_item = format }, function(item)
    if item then
      on_choice(item)
    end
  end)
end

--- The choices of an option: its own list, with groups laid flat, or yes and no.
---@param option table
---@return table[]
local function choices(option)
  if option.type == 'boolean' then
    return { { value = true, name = 'On' }, { value = false, name = 'Off' } }
  end
  local flat = {}
  for _, choice in ipairs(option.options or {}) do
    vim.list_extend(flat, choice.options or { choice })
  end
  return flat
end

---@param option table
---@return string
local function value_name(option)
  for _, choice in ipairs(choices(option)) do
    if choice.value == option.currentValue then
      return choice.name or tostring(choice.value)
    end
  end
  return tostring(option.currentValue)
end

---@param session acp_bridge.Session
---@param option table
local function choose_value(session, option)
  choose(choices(option), option.name or option.id, 'acp_bridge_option', function(choice)
    local told = choice.description and ('  ' .. choice.description) or ''
    return (choice.name or tostring(choice.value)) .. told
  end, function(choice)
    local params = { configId = option.id, value = choice.value }
    sessions.request(session, 'acp/session/setConfigOption', params, 'the option was not set')
  end)
end

--- Choose one of the session's options and its value.
---@param session acp_bridge.Session
function M.options(session)
  local options = session.summary.configOptions or {}
  if #options == 0 then
    notify.info(sessions.agent_name(session) .. ' offers no options')
    return
  end
  choose(options, 'Options of this chat', 'acp_bridge_options', function(option)
    return ('%s: %s'):format(option.name or option.id, value_name(option))
  end, function(option)
    choose_value(session, option)
  end)
end

---@param item table
---@return string
local function queued_text(item)
  local first = item.blocks[1] or {}
  return (tostring(first.text or first.type):gsub('%s+', ' '):sub(1, 80))
end

--- Look at the prompts that wait: resume a held queue, send one now, or remove one.
---@param session acp_bridge.Session
function M.queue(session)
  local queue = session.summary.queue or { items = {} }
  if #queue.items == 0 then
    notify.info('no prompt waits')
    return
  end
  local actions = {}
  if queue.held then
    table.insert(actions, { action = 'resume', text = 'Resume: send what waits, in order' })
  end
  for _, item in ipairs(queue.items) do
    table.insert(actions, { action = 'sendNow', turnId = item.turnId, text = 'Send now: ' .. queued_text(item) })
    table.insert(actions, { action = 'remove', turnId = item.turnId, text = 'Remove: ' .. queued_text(item) })
  end
  choose(actions, 'Prompts that wait', 'acp_bridge_queue', function(action)
    return action.text
  end, function(action)
    local params = { action = action.action, turnId = action.turnId }
    sessions.request(session, 'acp/session/queue', params, 'the queue was not changed')
  end)
end

return M
