--- acp-bridge for Neovim: what the commands do. See |acp_bridge|.

local client = require('acp_bridge.client')
local config = require('acp_bridge.config')
local highlights = require('acp_bridge.highlights')
local notify = require('acp_bridge.notify')
local sessions = require('acp_bridge.sessions')

local M = {}

local SLOW_MS = 1500

--- Take options and, unless told otherwise, attach to every file you open.
---@param options table? see |acp_bridge-setup|
function M.setup(options)
  config.set(options)
  client.configure(options and options.cmd)
end

---@param session acp_bridge.Session
---@return acp_bridge.Chat
local function chat_of(session)
  highlights.define()
  return require('acp_bridge.chat').of(session)
end

--- Call back with the id of an agent: the one given, the one set, or the one you choose.
---@param lsp_client vim.lsp.Client
---@param agent string?
---@param callback fun(agent: string)
local function choose_agent(lsp_client, agent, callback)
  client.request(lsp_client, 'acp/agents/list', vim.empty_dict(), 'the agents cannot be listed', function(result)
    sessions.learn_names(result.agents)
    local wanted = agent or config.options.default_agent
    if wanted then
      callback(wanted)
      return
    end
    local available = vim.tbl_filter(function(item)
      return item.available
    end, result.agents)
    if #available == 0 then
      notify.error('no agent is available', 'install one: :checkhealth acp_bridge says what is missing')
      return
    end
    vim.ui.select(available, {
      prompt = 'Agent of the new chat',
      kind = 'acp_bridge_agent',
      format_item = function(item)
        return ('%s  (%s)'):format(item.displayName, item.id)
      end,
    }, function(item)
      if item then
        callback(item.id)
      end
    end)
  end)
end

--- Log in by one of the methods, then go on.
---@param lsp_client vim.lsp.Client
---@param agent string
---@param methods table[]
---@param callback fun()?
local function log_in(lsp_client, agent, methods, callback)
  vim.ui.select(methods, {
    prompt = 'Log in to ' .. agent,
    kind = 'acp_bridge_login',
    format_item = function(method)
      local told = method.description and ('  ' .. method.description) or ''
      return (method.name or method.id) .. told
    end,
  }, function(method)
    if method then
      local params = { agent = agent, methodId = method.id }
      client.request(lsp_client, 'acp/agents/authenticate', params, 'the log-in failed', function()
        notify.info('logged in to ' .. agent)
        if callback then
          callback()
        end
      end)
    end
  end)
end

---@param lsp_client vim.lsp.Client
---@param agent string
---@param callback fun(session: acp_bridge.Session)
local function new_session(lsp_client, agent, callback)
  local params = { agent = agent, cwd = client.folder(lsp_client) }
  local answered = false
  vim.defer_fn(function()
    if not answered then
      notify.info(('%s is starting'):format(agent))
    end
  end, SLOW_MS)
  client.request(lsp_client, 'acp/session/new', params, 'no chat was started', function(opened)
    answered = true
    callback(sessions.opened(lsp_client.id, opened))
  end, function(err)
    answered = true
    local methods = type(err.data) == 'table' and err.data.authMethods
    if err.code ~= -32000 or type(methods) ~= 'table' or #methods == 0 then
      return false
    end
    log_in(lsp_client, agent, methods, function()
      new_session(lsp_client, agent, callback)
    end)
    return true
  end)
end

--- Start a new session and show its chat.
---@param agent string? else the default, else you choose
---@param callback fun(chat: acp_bridge.Chat)?
function M.new(agent, callback)
  client.with(function(lsp_client)
    choose_agent(lsp_client, agent, function(id)
      new_session(lsp_client, id, function(session)
        local chat = chat_of(session)
        chat:show()
        if callback then
          callback(chat)
        end
      end)
    end)
  end)
end

--- The chat used last, shown; a new one if there is none.
---@param callback fun(chat: acp_bridge.Chat)?
function M.chat(callback)
  local session = sessions.current()
  if not session then
    M.new(nil, callback)
    return
  end
  local chat = chat_of(session)
  chat:show()
  if callback then
    callback(chat)
  end
end

---@return acp_bridge.Chat?
local function current_chat()
  local session = sessions.current()
  if not session then
    notify.error('there is no chat', 'start one: :AcpBridgeChat')
    return nil
  end
  return chat_of(session)
end

--- Send what stands in the prompt.
function M.send()
  local chat = current_chat()
  if chat then
    chat:send()
  end
end

--- Send a prompt, with lines of the buffer at hand behind it; the cursor stays where it is.
---@param prompt string
---@param range {[1]: integer, [2]: integer}? first and last line, 1-based
function M.ask(prompt, range)
  local text = prompt
  if range then
    local lines = vim.api.nvim_buf_get_lines(0, range[1] - 1, range[2], false)
    local fence = '```'
    while table.concat(lines, '\n'):find(fence, 1, true) do
      fence = fence .. '`'
    end
    local name = vim.api.nvim_buf_get_name(0)
    local head = ('%s:%d-%d'):format(name == '' and 'unnamed' or name, range[1], range[2])
    text = table.concat({ prompt, '', head, fence .. vim.bo.filetype, table.concat(lines, '\n'), fence }, '\n')
  end
  local win = vim.api.nvim_get_current_win()
  M.chat(function(chat)
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_set_current_win(win)
    end
    chat:prompt(text)
  end)
end

--- Cancel the running turn.
function M.cancel()
  local chat = current_chat()
  if chat then
    chat:cancel()
  end
end

--- Choose an option of the current chat: mode, model, and what else its agent offers.
function M.options()
  local chat = current_chat()
  if chat then
    require('acp_bridge.menus').options(chat.session)
  end
end

--- Look at the prompts that wait in the current chat.
function M.queue()
  local chat = current_chat()
  if chat then
    require('acp_bridge.menus').queue(chat.session)
  end
end

--- Ask again for what waits for your permission.
function M.permission()
  require('acp_bridge.permission').ask_again()
end

---@param agent table
---@return string
local function agent_line(agent)
  return ('%s  (%s)  %s'):format(agent.displayName, agent.id, agent.available and agent.state or 'not available')
end

--- List the agents; the one you choose gets a new chat.
function M.agents()
  client.with(function(lsp_client)
    client.request(lsp_client, 'acp/agents/list', vim.empty_dict(), 'the agents cannot be listed', function(result)
      sessions.learn_names(result.agents)
      local usable, others = {}, {}
      for _, agent in ipairs(result.agents) do
        table.insert(agent.available and usable or others, agent)
      end
      vim.ui.select(vim.list_extend(usable, others), {
        prompt = 'Agents: choose one for a new chat',
        kind = 'acp_bridge_agent',
        format_item = agent_line,
      }, function(agent)
        if agent and agent.available then
          M.new(agent.id)
        elseif agent then
          notify.error(('%s is not available: %s'):format(agent.displayName, agent.reason or 'no reason given'))
        end
      end)
    end)
  end)
end

--- Log in to an agent.
---@param agent string
function M.login(agent)
  client.with(function(lsp_client)
    client.request(lsp_client, 'acp/agents/list', vim.empty_dict(), 'the agents cannot be listed', function(result)
      local found = vim.iter(result.agents):find(function(item)
        return item.id == agent
      end)
      local methods = found and found.authMethods or {}
      if #methods == 0 then
        notify.error(('agent %q offers no log-in'):format(agent), 'start a chat with it first, then log in')
        return
      end
      log_in(lsp_client, agent, methods)
    end)
  end)
end

--- Show what an agent wrote beside the protocol.
---@param agent string? else that of the current chat
function M.log(agent)
  local session = sessions.current()
  local id = agent or (session and session.summary.agent)
  if not id then
    notify.error('which agent?', ':AcpBridgeLog AGENT')
    return
  end
  client.with(function(lsp_client)
    client.request(lsp_client, 'acp/agents/log', { agent = id, tail = 2000 }, 'no log', function(result)
      local lines = vim.tbl_map(function(line)
        return ('%s %s %s'):format(line.time, line.stream, line.text)
      end, result.lines)
      local text = #lines > 0 and table.concat(lines, '\n') or ('(' .. id .. ' has written nothing)')
      require('acp_bridge.diff').open_text(text)
      vim.cmd.normal({ 'G', bang = true })
    end)
  end)
end

return M
