--- A tool call as lines: its status, its files, changes and output, and the permission it waits for. Pure.

local config = require('acp_bridge.config')
local lines_of = require('acp_bridge.lines')

local line, section, quoted = lines_of.line, lines_of.section, lines_of.quoted

local M = {}

local MAX_OUTPUT_BYTES = 32000
local MAX_OUTPUT_LINES = 200
local MAX_DIFF_BYTES = 200000
local LONG_DIFF = 24

local STATUS_GROUPS = {
  pending = 'AcpBridgePending',
  in_progress = 'AcpBridgeRunning',
  completed = 'AcpBridgeDone',
  failed = 'AcpBridgeFailed',
  cancelled = 'AcpBridgeCancelled',
}

---@param path string
---@param cwd string
---@return string
local function short(path, cwd)
  return vim.fs.relpath(cwd, path) or vim.fn.fnamemodify(path, ':~')
end

---@param output string
---@return acp_bridge.Line[]
local function output_lines(output)
  local shown = output:sub(-MAX_OUTPUT_BYTES)
  local texts = lines_of.split(shown)
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
  end, lines_of.split(text))
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
    texts = lines_of.split(diff.patch)
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
  return vim.list_extend({ head }, section(body, LONG_DIFF))
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
    return quoted(lines_of.block_text(item.block))
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

--- What waits for the user at an entry: the exact command or paths, and the options.
---@param request table
---@param entry table
---@return acp_bridge.Line[]
function M.pending(request, entry)
  local names = vim.tbl_map(function(option)
    return option.name
  end, request.options)
  local target = { request = request.requestId }
  local lines = {}
  local command = (request.action.details or {}).command
  if type(command) == 'string' then
    for _, text in ipairs(lines_of.split(command)) do
      table.insert(lines, line('  $ ' .. text, 'AcpBridgePath', { target = target }))
    end
    local where = '    in ' .. tostring(request.action.details.cwd)
    table.insert(lines, line(where, 'AcpBridgeMuted', { target = target }))
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

---@param entry table
---@param context acp_bridge.Context
---@return acp_bridge.Line[]
function M.entry(entry, context)
  local status = entry.status or 'pending'
  local icon = config.options.icons[status] or '·'
  local group = STATUS_GROUPS[status] or 'AcpBridgePending'
  local word = status == 'completed' and '' or ('  ' .. status:gsub('_', ' '))
  local text = ('%s %s'):format(icon, lines_of.one_line(entry.title or entry.name or 'tool'))
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

return M
