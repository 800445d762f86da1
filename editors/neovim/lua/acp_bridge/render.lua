--- One thread entry as lines for the chat. Pure.

local config = require('acp_bridge.config')
local lines_of = require('acp_bridge.lines')
local tool = require('acp_bridge.tool')

local line, one_line, quoted, section = lines_of.line, lines_of.one_line, lines_of.quoted, lines_of.section

---@class acp_bridge.Context
---@field previous acp_bridge.Entry? the entry shown before this one
---@field agent string the agent's name
---@field cwd string
---@field pending table<string, table> permission requests that wait, by entry id
---@field open table<string, boolean> sections the user opened, by key

local M = {}

local PLAN_ICONS = { completed = '✓', in_progress = '▸', pending = '·' }
local PLAN_GROUPS = { completed = 'AcpBridgeMuted', in_progress = 'AcpBridgeRunning' }

local STOPS = {
  max_tokens = "Stopped: the answer reached the agent's token limit.",
  max_turn_requests = 'Stopped: the agent reached its limit of requests in one turn.',
  refusal = 'The agent refused or failed.',
  cancelled = 'Cancelled.',
  error = 'The turn failed.',
  interrupted = 'The turn was interrupted.',
}

---@param lines acp_bridge.Line[]
---@param texts string[]
---@param group string?
---@param extra table?
local function add_texts(lines, texts, group, extra)
  for _, text in ipairs(texts) do
    table.insert(lines, line(text, group, extra))
  end
end

local kinds = { tool = tool.entry }

function kinds.user(entry)
  local lines = { line(config.options.icons.user .. ' You', 'AcpBridgeUser', { line_hl = 'AcpBridgeUserLine' }) }
  for _, block in ipairs(entry.blocks or {}) do
    add_texts(lines, lines_of.split(lines_of.block_text(block)))
  end
  return lines
end

function kinds.agent(entry)
  local lines = {}
  add_texts(lines, lines_of.split(entry.text or ''))
  for _, block in ipairs(entry.blocks or {}) do
    add_texts(lines, lines_of.split(lines_of.block_text(block)))
  end
  return lines
end

function kinds.thought(entry)
  local lines = {}
  for _, text in ipairs(lines_of.split(entry.text or '')) do
    table.insert(lines, line('  │ ' .. text, 'AcpBridgeThought'))
  end
  if #lines > 0 then
    table.insert(lines, 1, line('  Thought', 'AcpBridgeThought'))
  end
  return section(lines, 0)
end

function kinds.plan(entry)
  local lines = { line('  Plan', 'AcpBridgeTool') }
  for _, step in ipairs(entry.entries or {}) do
    local icon = PLAN_ICONS[step.status] or '·'
    local item = line(('    %s %s'):format(icon, one_line(tostring(step.content))))
    local group = PLAN_GROUPS[step.status]
    item.marks = group and { { 4, -1, group } } or {}
    table.insert(lines, item)
  end
  return lines
end

local SEVERITIES = { error = 'DiagnosticError', warning = 'DiagnosticWarn' }

function kinds.notice(entry)
  local group = SEVERITIES[entry.severity] or 'DiagnosticInfo'
  local lines = { line('! ' .. one_line(entry.title or ''), group) }
  for _, text in ipairs(lines_of.split(entry.description or '')) do
    table.insert(lines, line('  ' .. text, 'AcpBridgeMuted'))
  end
  return lines
end

kinds['error'] = function(entry)
  local lines = {}
  for index, text in ipairs(lines_of.split(entry.message or '')) do
    local icon = index == 1 and config.options.icons.failed or ' '
    table.insert(lines, line(icon .. ' ' .. text, 'DiagnosticError'))
  end
  for _, text in ipairs(lines_of.split(entry.hint or '')) do
    table.insert(lines, line('  Try: ' .. text, 'DiagnosticHint'))
  end
  return vim.list_extend(lines, quoted(entry.detail or ''))
end

function kinds.stop(entry)
  local reason = entry.stopReason
  if reason == 'end_turn' then
    return {}
  end
  return { line(STOPS[reason] or ('Stopped: %s.'):format(tostring(reason)), 'AcpBridgeStop') }
end

function kinds.compaction(entry)
  local lines = { line('  Context compaction: ' .. tostring(entry.status or 'started'), 'AcpBridgeMuted') }
  return vim.list_extend(lines, quoted(entry.error or entry.summary or ''))
end

function kinds.permission(entry)
  local outcome = entry.outcome
  local told = outcome and ('  ' .. tostring(outcome.optionId or outcome.outcome)) or ''
  return { line('? ' .. one_line(entry.title or 'Permission') .. told, 'AcpBridgeTool') }
end

function kinds.elicitation(entry)
  local action = entry.action and ('  ' .. entry.action) or ''
  return { line('? ' .. one_line(entry.message or '') .. action, 'AcpBridgeTool') }
end

---@param entry table
local function unknown(entry)
  local lines = { line('· ' .. tostring(entry.kind), 'AcpBridgeMuted') }
  return section(vim.list_extend(lines, quoted(vim.json.encode(entry.raw or entry))), 1)
end

--- Whether chunks of `field` may be written behind what stands, without rendering anew.
---@param kind string
---@param field string
---@return boolean
function M.grows(kind, field)
  return kind == 'agent' and field == 'text'
end

---@param entry acp_bridge.Entry
---@param context acp_bridge.Context
---@return acp_bridge.Line[]
local function lead(entry, context)
  local previous = context.previous
  local lines = {}
  if previous and not (previous.kind == 'tool' and entry.kind == 'tool') then
    table.insert(lines, line(''))
  end
  local speaks = entry.kind ~= 'user' and entry.kind ~= 'stop'
  if speaks and (not previous or previous.kind == 'user' or previous.kind == 'stop') then
    local text = config.options.icons.agent .. ' ' .. context.agent
    table.insert(lines, line(text, 'AcpBridgeAgent', { line_hl = 'AcpBridgeAgentLine' }))
  end
  return lines
end

--- The lines of an entry, with the blank line and the heading before it; none for what shows nothing.
---@param entry acp_bridge.Entry
---@param context acp_bridge.Context
---@return acp_bridge.Line[]
function M.entry(entry, context)
  local lines = (kinds[entry.kind] or unknown)(entry, context)
  local request = context.pending[entry.id]
  if request then
    vim.list_extend(lines, tool.pending(request, entry))
  end
  if entry.parent then
    for _, item in ipairs(lines) do
      item.text = '  ' .. item.text
      for _, mark in ipairs(item.marks) do
        mark[1] = mark[1] + 2
        mark[2] = mark[2] < 0 and -1 or mark[2] + 2
      end
    end
  end
  lines = lines_of.close_sections(lines, entry.id, context.open)
  return #lines == 0 and {} or vim.list_extend(lead(entry, context), lines)
end

return M
