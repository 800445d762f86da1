--- Permission requests: asked one at a time through `vim.ui.select`, answered with exactly what was chosen.
---
--- Closing the dialog sends nothing. A dialog opens only in Normal mode, so that no typing can answer it.

local notify = require('acp_bridge.notify')
local sessions = require('acp_bridge.sessions')

local M = {}

local waiting = {} ---@type table[] requests, oldest first
local asked = {} ---@type table<string, true> those whose dialog was shown
local open = nil ---@type string? the one whose dialog is shown
local deferred = false

---@param text string
---@return string
local function one_line(text)
  return (text:gsub('\n', '␊'))
end

--- What is asked, with the exact command or path.
---@param request table
---@return string
local function question(request)
  local session = sessions.get(request.sessionId)
  local who = session and sessions.agent_name(session) or 'The agent'
  local details = request.action.details or {}
  if type(details.command) == 'string' then
    return one_line(('%s asks to run: %s  (in %s)'):format(who, details.command, tostring(details.cwd)))
  end
  local paths = {}
  for _, path in ipairs(details.paths or {}) do
    if not request.title:find(path.path, 1, true) then
      table.insert(paths, path.path)
    end
  end
  local where = #paths > 0 and (': ' .. table.concat(paths, ', ')) or ''
  local outside = request.outsideRoots and '  (outside the folder)' or ''
  return one_line(('%s asks: %s%s%s'):format(who, request.title, where, outside))
end

--- Show the request in its chat, or take it away there.
---@param request table
local function redraw(request)
  local session = sessions.get(request.sessionId)
  if session and session.chat then
    session.chat.view:touch(request.entryId)
    session.chat:show_state()
  end
end

---@param request table
---@param option table
local function answer(request, option)
  local session = sessions.get(request.sessionId)
  if not session then
    return
  end
  local params = { requestId = request.requestId, optionId = option.optionId }
  sessions.request(session, 'acp/permission/answer', params, 'the permission was not answered', function(result)
    if not result.accepted then
      notify.info(('this was decided already, by %s'):format(tostring(result.by)))
    end
  end)
end

---@param id string
---@return table?
local function find(id)
  for _, request in ipairs(waiting) do
    if request.requestId == id then
      return request
    end
  end
end

--- Open the dialog of one request.
---@param request table
local function ask(request)
  asked[request.requestId] = true
  open = request.requestId
  -- What is decided about must be on the screen: a dialog may stop all drawing.
  local session = sessions.get(request.sessionId)
  if session and session.chat then
    session.chat.view:draw()
    vim.cmd.redraw()
  end
  vim.ui.select(request.options, {
    prompt = question(request),
    kind = 'acp_bridge_permission',
    format_item = function(option)
      return option.name
    end,
  }, function(option)
    open = nil
    if option then
      answer(request, option)
    end
    vim.schedule(function()
      if not option and find(request.requestId) then
        -- Below the rest of the dialog it would want a key pressed.
        vim.cmd.redraw()
        notify.info('nothing was decided; :AcpBridgePermission asks again')
      end
      M.ask_next()
    end)
  end)
end

---@return boolean
local function typing()
  return not vim.api.nvim_get_mode().mode:find('^n')
end

--- Ask what was not asked yet, now or when the user is back in Normal mode.
function M.ask_next()
  if open or deferred then
    return
  end
  local request = vim.iter(waiting):find(function(item)
    return not asked[item.requestId]
  end)
  if not request then
    return
  end
  if not typing() then
    ask(request)
    return
  end
  deferred = true
  notify.info('your permission is needed; you are asked when you leave this mode')
  vim.api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n*',
    once = true,
    callback = function()
      deferred = false
      vim.schedule(M.ask_next)
    end,
  })
end

---@param request table
function M.requested(request)
  if find(request.requestId) then
    return
  end
  table.insert(waiting, request)
  redraw(request)
  M.ask_next()
end

---@param id string
function M.resolved(id)
  for index, request in ipairs(waiting) do
    if request.requestId == id then
      table.remove(waiting, index)
      redraw(request)
      break
    end
  end
  asked[id] = nil
  if open == id then
    open = nil
  end
end

--- Make what waits for a session equal to what its summary says.
---@param session acp_bridge.Session
function M.reconcile(session)
  local requests, pending = {}, {}
  for _, item in ipairs(session.summary.pending or {}) do
    if item.kind == 'permission' then
      table.insert(requests, item.request)
      pending[item.request.requestId] = true
    end
  end
  for _, request in ipairs(vim.list_slice(waiting)) do
    if request.sessionId == session.id and not pending[request.requestId] then
      M.resolved(request.requestId)
    end
  end
  for _, request in ipairs(requests) do
    M.requested(request)
  end
end

--- What waits in a session, by the entry it stands at.
---@param session acp_bridge.Session
---@return table<string, table>
function M.by_entry(session)
  local found = {}
  for _, request in ipairs(waiting) do
    if request.sessionId == session.id then
      found[request.entryId] = request
    end
  end
  return found
end

--- Ask again: the one named, else the oldest of this session, else the oldest.
---@param id string?
function M.ask_again(id)
  local session = sessions.current()
  local request = id and find(id)
    or vim.iter(waiting):find(function(item)
      return session and item.sessionId == session.id
    end)
    or waiting[1]
  if request then
    ask(request)
  else
    notify.info('no permission is asked for')
  end
end

return M
