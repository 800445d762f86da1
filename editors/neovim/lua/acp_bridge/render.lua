--- One thread entry as lines for the chat: text, highlights, and what each line leads to. Pure.
---
--- Long parts are sections, one line until opened. They are no folds of the window: Neovim brings those up to
--- date only outside Insert mode, and answers stream while the user types.

local config = require('acp_bridge.config')

---@class acp_bridge.Mark
---@field [1] integer first byte
---@field [2] integer byte behind the last; -1 the line's end
---@field [3] string highlight group

---@class acp_bridge.Target
---@field diff table? a diff item of a tool's content
---@field location table? `{uri, path, line?}`
---@field text string? a long text to show whole
---@field request string? id of a permission request

---@class acp_bridge.Line
---@field text string
---@field marks acp_bridge.Mark[]
---@field line_hl string?
---@field section string? key of the section it belongs to
---@field target acp_bridge.Target?

---@class acp_bridge.Context
---@field previous acp_bridge.Entry? the entry shown before this one
---@field agent string the agent's name
---@field cwd string
---@field pending table<string, table> permission requests that wait, by entry id
---@field open table<string, boolean> sections the user opened, by key

local M = {}

local MAX_OUTPUT_BYTES = 32000
local MAX_OUTPUT_LINES = 200
local MAX_DIFF_BYTES = 200000
local LONG = 12

local STATUS_GROUPS = {
  pending = 'AcpBridgePending',
  in_progress = 'AcpBridgeRunning',
  completed = 'AcpBridgeDone',
  failed = 'AcpBridgeFailed',
  cancelled = 'AcpBridgeCancelled',
}

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

---@param text string
---@param group string? for the whole line
---@param extra table? other fields of the line
---@return acp_bridge.Line
local function line(text, group, extra)
  local made = { text = text, marks = {} }
  if group then
    made.marks[1] = { 0, -1, group }
  end
  return vim.tbl_extend('force', made, extra or {})
end

--- Lines of a text without its trailing blank ones.
---@param text string
---@return string[]
function M.split(text)
  text = text:gsub('\r\n', '\n'):gsub('%s+$', '')
  return text == '' and {} or vim.split(text, '\n', { plain = true })
end

---@param text string
---@return string
local function one_line(text)
  return (text:gsub('%s*\n%s*', ' ⏎ '))
end

---@param path string
---@param cwd string
---@return string
local function short(path, cwd)
  return vim.fs.relpath(cwd, path) or vim.fn.fnamemodify(path, ':~')
end

---@param block table a content block of ACP
---@return string
local function block_text(block)
  if block.type == 'text' then
    return block.text or ''
  elseif block.type == 'resource_link' then
    return ('[%s](%s)'):format(block.name or block.uri, block.uri)
  elseif block.type == 'resource' then
    local uri = (block.resource or {}).uri or ''
    return ('[%s](%s)'):format(uri, uri)
  end
  return ('*(%s)*'):format(block.type or 'unknown')
end

--- Make `lines` one section if they are many.
---@param lines acp_bridge.Line[]
---@param over integer?
---@return acp_bridge.Line[]
local function section(lines, over)
  if #lines > (over or LONG) then
    for index, item in ipairs(lines) do
      item.section = index == 1 and 'first' or 'rest'
    end
  end
  return lines
end

--- Give each section its key, and leave one line of those that are not open.
---@param lines acp_bridge.Line[]
---@param id string
---@param open table<string, boolean>
---@return acp_bridge.Line[]
local function close_sections(lines, id, open)
  local shown = {}
  local key, head, hidden, number = '', nil, 0, 0
  local function finish()
    if head then
      local more = ('  … %d %s, <Tab> opens'):format(hidden, hidden == 1 and 'line' or 'lines')
      table.insert(head.marks, { #head.text, -1, 'AcpBridgeMuted' })
      head.marks[1][2] = head.marks[1][2] < 0 and #head.text or head.marks[1][2]
      head.text = head.text .. more
      head, hidden = nil, 0
    end
  end
  for _, item in ipairs(lines) do
    if item.section == 'first' then
      finish()
      number = number + 1
      key = id .. '#' .. number
      head = not open[key] and item or nil
    elseif not item.section then
      finish()
    end
    if head and item ~= head then
      hidden = hidden + 1
    else
      table.insert(shown, item)
    end
    item.section = item.section and key
  end
  finish()
  return shown
end

---@param lines acp_bridge.Line[]
---@param texts string[]
---@param group string?
---@param extra table?
local function add_texts(lines, texts, group, extra)
  for _, text in ipairs(texts) do
    table.insert(lines, line(text, group, extra))
  end
end

---@param text string
---@param extra table?
---@return acp_bridge.Line[]
local function quoted(text, extra)
  local lines = {}
  for _, item in ipairs(M.split(text)) do
    table.insert(lines, line('  │ ' .. item, 'AcpBridgeDetail', extra))
  end
  return section(lines)
end

---@param output string
---@return acp_bridge.Line[]
local function output_lines(output)
  local shown = output:sub(-MAX_OUTPUT_BYTES)
  local texts = M.split(shown)
  local cut = #shown < #output or #texts > MAX_OUTPUT_LINES
  local target = { text = output }
  local lines = {}
  if cut then
    local told = '  │ … the end of a long output; gd shows it all'
    table.insert(lines, line(told, 'AcpBridgeMuted', { target = target }))
  end
  for index = math.max(1, #texts - MAX_OUTPUT_LINES + 1), #texts do
    table.insert(lines, line('  │ ' .. texts[index], 'AcpBridgeDetail', { target = target }))
  end
  return section(lines)
end

local DIFF_GROUPS = { ['+'] = 'AcpBridgeAdded', ['-'] = 'AcpBridgeRemoved', ['@'] = 'AcpBridgeHunk' }

---@param old string
---@param new string
---@return string[]
local function unified(old, new)
  local diff = vim.text and vim.text.diff or vim.diff
  local text = diff(old, new, { result_type = 'unified', ctxlen = 2 }) --[[@as string]]
  return vim.tbl_filter(function(item)
    return item:sub(1, 1) ~= '\\'
  end, M.split(text))
end

---@param diff table
---@param cwd string
---@return acp_bridge.Line[]
local function diff_lines(diff, cwd)
  local old, new = diff.oldText or '', diff.newText or ''
  local target = { diff = diff }
  local body, added, removed = {}, 0, 0
  local texts
  if type(diff.patch) == 'string' then
    texts = M.split(diff.patch)
  elseif #old + #new > MAX_DIFF_BYTES then
    texts = {}
  else
    texts = unified(old, new)
  end
  for _, text in ipairs(texts) do
    local sign = text:sub(1, 1)
    added = added + (sign == '+' and 1 or 0)
    removed = removed + (sign == '-' and 1 or 0)
    local shown = sign == '@' and text or (sign .. ' ' .. text:sub(2))
    local item = line('  │ ' .. shown, nil, { target = target })
    local group = DIFF_GROUPS[sign] or 'AcpBridgeDetail'
    item.marks = { { 0, 5, 'AcpBridgeMuted' }, { 6, -1, group } }
    table.insert(body, item)
  end
  local name = diff.path and short(diff.path, cwd) or 'changes'
  local what = diff.oldText == nil and ' (new file)' or ''
  local counts = #texts > 0 and ('  +%d -%d'):format(added, removed) or '  large; gd shows it'
  local head = line(('  ± %s%s%s'):format(name, what, counts), 'AcpBridgePath', { target = target })
  return vim.list_extend({ head }, section(body, 24))
end

---@param item table an item of tool.content
---@param cwd string
---@return acp_bridge.Line[]
local function content_lines(item, cwd)
  if item.type == 'diff' then
    return diff_lines(item, cwd)
  elseif item.type == 'text' then
    return quoted(item.text or '')
  elseif item.type == 'terminal' then
    return { line('  terminal ' .. tostring(item.terminalId), 'AcpBridgeDetail') }
  elseif item.type == 'block' and type(item.block) == 'table' then
    return quoted(block_text(item.block))
  end
  return quoted(vim.json.encode(item))
end

--- The paths whose diffs an entry shows.
---@param entry table
---@return table<string, true>
local function diff_paths(entry)
  local paths = {}
  for _, item in ipairs(entry.content or {}) do
    if item.type == 'diff' and item.path then
      paths[item.path] = true
    end
  end
  return paths
end

---@param entry table
---@param cwd string
---@return acp_bridge.Line[]
local function location_lines(entry, cwd)
  local shown = diff_paths(entry)
  local lines = {}
  for _, location in ipairs(entry.locations or {}) do
    if not shown[location.path] then
      local where = location.line and (':%d'):format(location.line + 1) or ''
      local text = '  → ' .. short(location.path, cwd) .. where
      table.insert(lines, line(text, 'AcpBridgePath', { target = { location = location } }))
    end
  end
  return lines
end

---@param request table
---@param entry table
---@return acp_bridge.Line[]
local function pending_lines(request, entry)
  local names = vim.tbl_map(function(option)
    return option.name
  end, request.options)
  local target = { request = request.requestId }
  local lines = {}
  local command = (request.action.details or {}).command
  if type(command) == 'string' then
    for _, text in ipairs(M.split(command)) do
      table.insert(lines, line('  $ ' .. text, 'AcpBridgePath', { target = target }))
    end
    table.insert(lines, line('    in ' .. tostring(request.action.details.cwd), 'AcpBridgeMuted', { target = target }))
  end
  local shown = diff_paths(entry)
  for _, path in ipairs((request.action.details or {}).paths or {}) do
    if not shown[path.path] then
      table.insert(lines, line('  → ' .. path.path, 'AcpBridgePath', { target = target }))
    end
  end
  local text = '  Your permission is needed: ' .. table.concat(names, ' · ') .. '   <CR> to decide'
  table.insert(lines, line(text, 'AcpBridgeAttention', { target = target }))
  return lines
end

local kinds = {}

function kinds.user(entry)
  local lines = { line(config.options.icons.user .. ' You', 'AcpBridgeUser', { line_hl = 'AcpBridgeUserLine' }) }
  for _, block in ipairs(entry.blocks or {}) do
    add_texts(lines, M.split(block_text(block)))
  end
  return lines
end

function kinds.agent(entry)
  local lines = {}
  add_texts(lines, M.split(entry.text or ''))
  for _, block in ipairs(entry.blocks or {}) do
    add_texts(lines, M.split(block_text(block)))
  end
  return lines
end

function kinds.thought(entry)
  local lines = {}
  for _, text in ipairs(M.split(entry.text or '')) do
    table.insert(lines, line('  │ ' .. text, 'AcpBridgeThought'))
  end
  if #lines > 0 then
    table.insert(lines, 1, line('  Thought', 'AcpBridgeThought'))
  end
  return section(lines, 0)
end

function kinds.tool(entry, context)
  local status = entry.status or 'pending'
  local icon = config.options.icons[status] or '·'
  local group = STATUS_GROUPS[status] or 'AcpBridgePending'
  local word = status == 'completed' and '' or ('  ' .. status:gsub('_', ' '))
  local text = ('%s %s'):format(icon, one_line(entry.title or entry.name or 'tool'))
  local head = line(text .. word)
  head.marks = { { 0, #icon, group }, { #icon, #text, 'AcpBridgeTool' }, { #text, -1, group } }
  local lines = { head }
  vim.list_extend(lines, location_lines(entry, context.cwd))
  for _, item in ipairs(entry.content or {}) do
    vim.list_extend(lines, content_lines(item, context.cwd))
  end
  if entry.output and entry.output ~= '' then
    vim.list_extend(lines, output_lines(entry.output))
  end
  if status == 'failed' and type(entry.rawOutput) == 'string' then
    vim.list_extend(lines, quoted(entry.rawOutput))
  end
  for _, item in ipairs(lines) do
    head.target = head.target or item.target
  end
  return lines
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
  for _, text in ipairs(M.split(entry.description or '')) do
    table.insert(lines, line('  ' .. text, 'AcpBridgeMuted'))
  end
  return lines
end

kinds['error'] = function(entry)
  local lines = {}
  for index, text in ipairs(M.split(entry.message or '')) do
    table.insert(lines, line((index == 1 and config.options.icons.failed or ' ') .. ' ' .. text, 'DiagnosticError'))
  end
  for _, text in ipairs(M.split(entry.hint or '')) do
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
    vim.list_extend(lines, pending_lines(request, entry))
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
  lines = close_sections(lines, entry.id, context.open)
  return #lines == 0 and {} or vim.list_extend(lead(entry, context), lines)
end

return M
