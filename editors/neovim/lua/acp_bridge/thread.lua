--- One conversation as the bridge tells it: entries in order, kept up by ops under the rules of epoch and rev.
---
--- A change at or below our own rev is ignored; one that starts above it, or of another epoch, is a gap: the
--- thread is then fetched. Growing text is kept in pieces and joined when somebody reads it.

local null = require('acp_bridge.null')

---@class acp_bridge.Entry
---@field id string
---@field kind string
---@field turnId string?
---@field parent string?

---@class acp_bridge.Watcher
---@field reset fun() everything is another
---@field reshaped fun() entries came or went
---@field touched fun(id: string) an entry is another
---@field appended fun(id: string, field: string, text: string)

---@class acp_bridge.Thread
---@field epoch string
---@field rev integer
---@field order string[]
---@field watcher acp_bridge.Watcher?
---@field private entries table<string, acp_bridge.Entry>
---@field private growing table<string, table<string, string[]>>
local Thread = {}
Thread.__index = Thread

---@param state {epoch: string, rev: integer, entries: acp_bridge.Entry[]}
---@return acp_bridge.Thread
function Thread.new(state)
  local self = setmetatable({}, Thread)
  self:replace(state)
  return self
end

--- Take a whole thread.
---@param state {epoch: string, rev: integer, entries: acp_bridge.Entry[]}
function Thread:replace(state)
  self.epoch = state.epoch
  self.rev = state.rev
  self.order = {}
  self.entries = {}
  self.growing = {}
  for _, entry in ipairs(state.entries) do
    table.insert(self.order, entry.id)
    self.entries[entry.id] = null.strip(entry)
  end
  if self.watcher then
    self.watcher.reset()
  end
end

--- The entry as it stands, nil if there is none.
---@param id string
---@return acp_bridge.Entry?
function Thread:entry(id)
  local entry = self.entries[id]
  local growing = self.growing[id]
  if growing then
    self.growing[id] = nil
    for field, pieces in pairs(growing) do
      entry[field] = table.concat(pieces)
    end
  end
  return entry
end

--- The entry without its newest text.
---@param id string
---@return acp_bridge.Entry?
function Thread:peek(id)
  return self.entries[id]
end

---@return acp_bridge.Entry[]
function Thread:list()
  return vim.tbl_map(function(id)
    return self:entry(id)
  end, self.order)
end

--- Take one `acp/thread/changed`.
---@param change {epoch: string, fromRev: integer, rev: integer, ops: table[]}
---@return 'applied'|'old'|'gap'
function Thread:change(change)
  if change.epoch ~= self.epoch or change.fromRev > self.rev then
    return 'gap'
  end
  if change.rev <= self.rev then
    return 'old'
  end
  -- A change that overlaps ours cannot be applied in part.
  if change.fromRev < self.rev then
    return 'gap'
  end
  for _, op in ipairs(change.ops) do
    self:apply(op)
  end
  self.rev = change.rev
  return 'applied'
end

---@private
---@param op table
function Thread:apply(op)
  if op.op == 'put' then
    self:put(null.strip(op.entry), op.after)
  elseif op.op == 'remove' then
    self:remove(op.id)
  elseif not self.entries[op.id] then
    return
  elseif op.op == 'append' then
    self:append(op.id, op.field, op.text)
  elseif op.op == 'patch' then
    self:patch(op.id, op.set)
  end
end

---@private
---@param entry acp_bridge.Entry
---@param after any an id: behind it; null: first; absent: at the end, or in place
function Thread:put(entry, after)
  local known = self.entries[entry.id] ~= nil
  self.entries[entry.id] = entry
  self.growing[entry.id] = nil
  if known and after == nil then
    self:tell('touched', entry.id)
    return
  end
  if known then
    self:unlist(entry.id)
  end
  local index = #self.order + 1
  if after == vim.NIL then
    index = 1
  elseif after ~= nil then
    index = (self:index(after) or #self.order) + 1
  end
  table.insert(self.order, index, entry.id)
  self:tell('reshaped')
end

---@private
---@param id string
function Thread:remove(id)
  if not self.entries[id] then
    return
  end
  self.entries[id] = nil
  self.growing[id] = nil
  self:unlist(id)
  self:tell('reshaped')
end

---@private
---@param id string
---@param field string
---@param text string
function Thread:append(id, field, text)
  local growing = self.growing[id] or {}
  self.growing[id] = growing
  local pieces = growing[field]
  if pieces then
    table.insert(pieces, text)
  else
    growing[field] = { self.entries[id][field] or '', text }
  end
  self:tell('appended', id, field, text)
end

---@private
---@param id string
---@param set table
function Thread:patch(id, set)
  local entry = assert(self:entry(id))
  for key, value in pairs(set) do
    entry[key] = null.strip(value)
  end
  self:tell('touched', id)
end

---@private
---@param id string
---@return integer?
function Thread:index(id)
  for index = #self.order, 1, -1 do
    if self.order[index] == id then
      return index
    end
  end
end

---@private
---@param id string
function Thread:unlist(id)
  table.remove(self.order, self:index(id))
end

---@private
---@param event string
function Thread:tell(event, ...)
  if self.watcher then
    self.watcher[event](...)
  end
end

return Thread
