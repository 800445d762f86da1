--- A thread in a buffer, above one blank last line.
---
--- Everything told in one turn of the loop is drawn at once; only lines that differ are written. A window whose
--- cursor stands on the last line follows; every other keeps its cursor and its view.

local follow = require('acp_bridge.follow')
local paint = require('acp_bridge.paint')
local render = require('acp_bridge.render')

---@class acp_bridge.Row
---@field id string
---@field kind string
---@field lines acp_bridge.Line[]
---@field held string line ends that came last: shown once text follows

---@class acp_bridge.View
---@field buf integer
---@field thread acp_bridge.Thread
---@field context fun(): {agent: string, cwd: string, pending: table<string, table>}
---@field private rows acp_bridge.Row[]
---@field private dirty table<string, true|string[]> rows to render, or text to append
---@field private open table<string, boolean> sections the user opened
---@field private all boolean
---@field private reshaped boolean
---@field private scheduled boolean
---@field private starts integer[]?
local View = {}
View.__index = View

--- Whether what follows a row begins as it does because of this row.
---@param row acp_bridge.Row
---@return boolean
local function leads(row)
  return #row.lines > 0 or row.kind == 'user' or row.kind == 'stop'
end

---@param buf integer
---@param thread acp_bridge.Thread
---@param context fun(): table
---@return acp_bridge.View
function View.new(buf, thread, context)
  local self = setmetatable({}, View)
  self.buf = buf
  self.thread = thread
  self.context = context
  self.rows = {}
  self.dirty = {}
  self.open = {}
  self.all = true
  self.reshaped = false
  self.scheduled = false
  thread.watcher = {
    reset = function()
      self.all = true
      self:schedule()
    end,
    reshaped = function()
      self.reshaped = true
      self:schedule()
    end,
    touched = function(id)
      self:touch(id)
    end,
    appended = function(id, field, text)
      self:grow(id, field, text)
    end,
  }
  self:draw()
  return self
end

--- Render an entry anew, soon.
---@param id string
function View:touch(id)
  self.dirty[id] = true
  self:schedule()
end

---@private
---@param id string
---@param field string
---@param text string
function View:grow(id, field, text)
  local waiting = self.dirty[id]
  if waiting == true then
    return
  end
  local pieces = waiting or {} --[[@as table]]
  table.insert(pieces, { field = field, text = text })
  self.dirty[id] = pieces
  self:schedule()
end

---@private
function View:schedule()
  if not self.scheduled then
    self.scheduled = true
    vim.schedule(function()
      self.scheduled = false
      self:draw()
    end)
  end
end

--- Bring the buffer up to the thread.
function View:draw()
  if not vim.api.nvim_buf_is_loaded(self.buf) then
    return
  end
  local following = follow.windows(self.buf)
  vim.bo[self.buf].modifiable = true
  if self.all then
    self.all = false
    self.reshaped = true
    for _, row in ipairs(self.rows) do
      self.dirty[row.id] = true
    end
  end
  if self.reshaped then
    self.reshaped = false
    self:reshape()
  end
  self:refresh()
  vim.bo[self.buf].modifiable = false
  follow.to_end(self.buf, following)
end

--- What a line shows and leads to: its entry's id and the line itself; nil behind the last.
---@param lnum integer 1-based
---@return string? id
---@return acp_bridge.Line?
function View:at(lnum)
  local starts = self:first_lines()
  local low, high = 1, #starts
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if starts[middle] < lnum then
      low = middle
    else
      high = middle - 1
    end
  end
  local row = self.rows[low]
  local line = row and row.lines[lnum - starts[low]]
  if line then
    return row.id, line
  end
end

--- Open or close the section of a line.
---@param lnum integer 1-based
---@return boolean whether there is one
function View:toggle(lnum)
  local id, line = self:at(lnum)
  if not (id and line and line.section) then
    return false
  end
  self.open[line.section] = not self.open[line.section]
  self:touch(id)
  self:draw()
  return true
end

--- The lines at which entries of a kind start, 1-based.
---@param kind string
---@return integer[]
function View:lines_of(kind)
  local starts = self:first_lines()
  local found = {}
  for index, row in ipairs(self.rows) do
    if row.kind == kind and #row.lines > 0 then
      table.insert(found, starts[index] + (row.lines[1].text == '' and 2 or 1))
    end
  end
  return found
end

--- The first line of every row, 0-based.
---@private
---@return integer[]
function View:first_lines()
  if not self.starts then
    self.starts = {}
    local first = 0
    for index, row in ipairs(self.rows) do
      self.starts[index] = first
      first = first + #row.lines
    end
  end
  return self.starts
end

--- Rows of entries that are gone go, rows of new ones come.
---@private
function View:reshape()
  local order = self.thread.order
  local there = {}
  for _, id in ipairs(order) do
    there[id] = true
  end
  for index = #self.rows, 1, -1 do
    if not there[self.rows[index].id] then
      self:drop(index)
    end
  end
  for index, id in ipairs(order) do
    local row = self.rows[index]
    if not row or row.id ~= id then
      self:move_away(id, index)
      local entry = assert(self.thread:entry(id))
      table.insert(self.rows, index, { id = id, kind = entry.kind, lines = {}, held = '' })
      self.starts = nil
      self.dirty[id] = true
      self:touch_after(index)
    end
  end
end

--- An entry that was put elsewhere has a row further down.
---@private
---@param id string
---@param index integer
function View:move_away(id, index)
  for i = index, #self.rows do
    if self.rows[i].id == id then
      self:drop(i)
      return
    end
  end
end

---@private
---@param index integer
function View:drop(index)
  self:set(index, {})
  table.remove(self.rows, index)
  self.starts = nil
  self:touch_after(index - 1)
end

--- How an entry begins depends on the last one shown before it: render those anew that may begin otherwise.
---@private
---@param index integer the row that is another now
function View:touch_after(index)
  local row
  repeat
    index = index + 1
    row = self.rows[index]
    if row then
      self.dirty[row.id] = true
    end
  until not row or leads(row)
end

---@private
function View:refresh()
  if next(self.dirty) == nil then
    return
  end
  local context = self.context()
  local index = #self.rows
  -- Most of what changes stands at the end; one that changes its shape touches the next one.
  local first = index + 1
  local left = vim.tbl_count(self.dirty)
  while index > 0 and left > 0 do
    if self.dirty[self.rows[index].id] then
      left = left - 1
      first = index
    end
    index = index - 1
  end
  for i = first, #self.rows do
    local row = self.rows[i]
    local what = self.dirty[row.id]
    if what then
      local kind, led = row.kind, leads(row)
      if what == true or not self:append(i, what, context) then
        self:render(i, context)
      end
      if row.kind ~= kind or leads(row) ~= led then
        self:touch_after(i)
      end
    end
  end
  self.dirty = {}
end

---@private
---@param index integer
---@param context table
function View:render(index, context)
  local row = self.rows[index]
  local entry = assert(self.thread:entry(row.id))
  row.kind = entry.kind
  row.held = entry.kind == 'agent' and (entry.text or ''):match('%s*$') or ''
  self:set(
    index,
    render.entry(entry, {
      previous = self:previous(index),
      agent = context.agent,
      cwd = context.cwd,
      pending = context.pending,
      open = self.open,
    })
  )
end

---@private
---@param index integer
---@return acp_bridge.Entry?
function View:previous(index)
  for i = index - 1, 1, -1 do
    local row = self.rows[i]
    if leads(row) then
      return self.thread:entry(row.id)
    end
  end
end

--- Write growing text behind what stands; false where the entry must be rendered.
---@private
---@param index integer
---@param pieces {field: string, text: string}[]
---@param context table
---@return boolean
function View:append(index, pieces, context)
  local row = self.rows[index]
  local last = row.lines[#row.lines]
  if not last then
    return false
  end
  local texts = { row.held }
  for _, piece in ipairs(pieces) do
    if not render.grows(row.kind, piece.field) then
      return false
    end
    table.insert(texts, piece.text)
  end
  local entry = self.thread:peek(row.id)
  if entry.blocks or entry.parent or context.pending[row.id] then
    return false
  end
  local text = table.concat(texts)
  local body = text:gsub('%s+$', '')
  row.held = text:sub(#body + 1)
  if body == '' then
    return true
  end
  local added = vim.split(body:gsub('\r\n', '\n'), '\n', { plain = true })
  local at = self:first_lines()[index] + #row.lines - 1
  local column = #last.text
  last.text = last.text .. added[1]
  for i = 2, #added do
    table.insert(row.lines, { text = added[i], marks = {} })
  end
  self:moved(index, #added > 1)
  vim.api.nvim_buf_set_text(self.buf, at, column, at, column, added)
  return true
end

--- Make a row read `lines`, touching only those that differ.
---@private
---@param index integer
---@param lines acp_bridge.Line[]
function View:set(index, lines)
  local row = self.rows[index]
  local old = row.lines
  local start = self:first_lines()[index]
  local head, tail = 0, 0
  local most = math.min(#old, #lines)
  while head < most and paint.same(old[head + 1], lines[head + 1]) do
    head = head + 1
  end
  while tail < most - head and paint.same(old[#old - tail], lines[#lines - tail]) do
    tail = tail + 1
  end
  row.lines = lines
  self:moved(index, #lines ~= #old)
  if head + tail == #old and #old == #lines then
    return
  end
  local texts = {}
  for i = head + 1, #lines - tail do
    -- A line end inside a line would split it and shift all others.
    lines[i].text = lines[i].text:gsub('\n', ' ')
    table.insert(texts, lines[i].text)
  end
  local from, to = start + head, start + #old - tail
  paint.clear(self.buf, from, to)
  vim.api.nvim_buf_set_lines(self.buf, from, to, false, texts)
  for i = head + 1, #lines - tail do
    paint.line(self.buf, start + i - 1, lines[i])
  end
end

--- Rows behind one whose height changed start elsewhere.
---@private
---@param index integer
---@param changed boolean
function View:moved(index, changed)
  if changed and index < #self.rows then
    self.starts = nil
  end
end

return View
