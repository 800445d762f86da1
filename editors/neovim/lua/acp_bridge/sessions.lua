--- The sessions this editor knows: each one's summary, thread, and chat, kept up by what the bridge tells.

local Thread = require('acp_bridge.thread')
local client = require('acp_bridge.client')
local notify = require('acp_bridge.notify')

---@class acp_bridge.Session
---@field id string
---@field client_id integer
---@field summary table the `session` object of the editor protocol
---@field thread acp_bridge.Thread
---@field chat acp_bridge.Chat?
---@field ended boolean the bridge is gone
---@field private fetching boolean

local M = {}

local by_id = {} ---@type table<string, acp_bridge.Session>
local current ---@type acp_bridge.Session?
local names = {} ---@type table<string, string> display names by agent id

---@param agents table[]
function M.learn_names(agents)
  for _, agent in ipairs(agents) do
    names[agent.id] = agent.displayName or agent.name
  end
end

---@param session acp_bridge.Session
---@return string
function M.agent_name(session)
  return names[session.summary.agent] or session.summary.agent
end

---@param id string
---@return acp_bridge.Session?
function M.get(id)
  return by_id[id]
end

--- The session of the buffer at hand, else the one used last, if its bridge lives.
---@return acp_bridge.Session?
function M.current()
  local here = by_id[vim.b.acp_bridge_session or '']
  local session = here or current
  if session and session.ended and not here then
    return nil
  end
  return session
end

---@param session acp_bridge.Session
function M.use(session)
  current = session
end

---@param session acp_bridge.Session
---@return vim.lsp.Client?
function M.client(session)
  return vim.lsp.get_client_by_id(session.client_id)
end

--- Ask the bridge about a session; see `client.request`.
---@param session acp_bridge.Session
---@param method string
---@param params table
---@param what string
---@param on_result fun(result: table)?
---@param on_error (fun(err: lsp.ResponseError): boolean?)?
---@return boolean asked
function M.request(session, method, params, what, on_result, on_error)
  local lsp_client = M.client(session)
  if not lsp_client or session.ended then
    notify.error(what .. ': the bridge of this chat has ended', 'start a new chat: :AcpBridgeNew')
    return false
  end
  params.sessionId = session.id
  client.request(lsp_client, method, params, what, on_result, on_error)
  return true
end

--- Take the answer that introduces a session.
---@param client_id integer
---@param opened {sessionId: string, session: table, thread: table}
---@return acp_bridge.Session
function M.opened(client_id, opened)
  local session = by_id[opened.sessionId]
  if session then
    session.thread:replace(opened.thread)
  else
    session = { id = opened.sessionId, client_id = client_id, thread = Thread.new(opened.thread), ended = false }
    by_id[session.id] = session
  end
  session.summary = opened.session
  current = session
  return session
end

---@param client_id integer
---@param summary table
function M.session_changed(client_id, summary)
  local session = by_id[summary.sessionId]
  if not session or session.client_id ~= client_id then
    return
  end
  session.summary = summary
  require('acp_bridge.permission').reconcile(session)
  if session.chat then
    session.chat:show_state()
  end
end

---@param change table the params of `acp/thread/changed`
function M.thread_changed(change)
  local session = by_id[change.sessionId]
  if session and session.thread:change(change) == 'gap' then
    M.fetch(session)
  end
end

--- Fetch the thread: something of it was missed. What arrives meanwhile is older than the answer.
---@param session acp_bridge.Session
function M.fetch(session)
  if session.fetching then
    return
  end
  session.fetching = true
  local function done()
    session.fetching = false
  end
  local params = { limit = 1000000 }
  local function take(state)
    done()
    session.thread:replace(state)
  end
  if not M.request(session, 'acp/thread/get', params, 'the conversation cannot be fetched', take, done) then
    done()
  end
end

--- The bridge behind these sessions is gone: nothing of them waits any more.
---@param client_id integer
---@param code integer
---@param signal integer
function M.client_ended(client_id, code, signal)
  local had = false
  for _, session in pairs(by_id) do
    if session.client_id == client_id and not session.ended then
      had = true
      session.ended = true
      session.summary.pending = {}
      require('acp_bridge.permission').reconcile(session)
      if session.chat then
        session.chat:show_state()
      end
    end
  end
  if had and vim.v.exiting == vim.NIL then
    local how = signal ~= 0 and ('by signal ' .. signal) or ('with status ' .. code)
    notify.error('the bridge ended ' .. how, 'start a new chat: :AcpBridgeNew; :LspLog may say why')
  end
end

return M
