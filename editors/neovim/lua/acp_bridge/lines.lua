--- The lines a chat is made of, and the sections of them that stay one line until opened. Pure.
---
--- Sections are no folds of the window: Neovim brings those up to date only outside Insert mode, and answers
--- stream while the user types.

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

local M = {}

local LONG = 12

---@param text string
---@param group string? for the whole line
---@param extra table? other fields of the line
---@return acp_bridge.Line
function M.line(text, group, extra)
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
function M.one_line(text)
  return (text:gsub('%s*\n%s*', ' ⏎ '))
end

---@param block table a content block of ACP
---@return string
function M.block_text(block)
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
function M.section(lines, over)
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
function M.close_sections(lines, id, open)
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

---@param text string
---@param extra table?
---@return acp_bridge.Line[]
function M.quoted(text, extra)
  local lines = {}
  for _, item in ipairs(M.split(text)) do
    table.insert(lines, M.line('  │ ' .. item, 'AcpBridgeDetail', extra))
  end
  return M.section(lines)
end

return M
