--- The connection to the bridge: finds or starts the language client, asks it things.

local config = require('acp_bridge.config')
local notify = require('acp_bridge.notify')
local null = require('acp_bridge.null')

local M = { name = 'acp_bridge' }

local POLL_MS = 20

---@return vim.lsp.Client[]
function M.running()
  return vim.tbl_filter(function(client)
    return not client:is_stopped()
  end, vim.lsp.get_clients({ name = M.name, _uninitialized = true }))
end

--- Call back once the client answers, or with nil once it has failed to start.
---@param client vim.lsp.Client
---@param callback fun(client: vim.lsp.Client?)
local function when_ready(client, callback)
  if client.initialized then
    callback(client)
  elseif client:is_stopped() then
    callback(nil)
  else
    vim.defer_fn(function()
      when_ready(client, callback)
    end, POLL_MS)
  end
end

---@param buf integer
---@return boolean
local function is_file(buf)
  return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= ''
end

--- Let the bridge see every file of its folder, also those without a file type.
---@param client vim.lsp.Client
---@param buf integer
local function attach(client, buf)
  if not is_file(buf) or client.attached_buffers[buf] then
    return
  end
  local root = client.root_dir
  if not root or vim.fs.relpath(root, vim.api.nvim_buf_get_name(buf)) then
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

---@param client vim.lsp.Client
local function attach_files(client)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    attach(client, buf)
  end
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost' }, {
    group = vim.api.nvim_create_augroup('acp_bridge_attach_' .. client.id, {}),
    callback = function(event)
      if client:is_stopped() then
        return true
      end
      attach(client, event.buf)
    end,
  })
end

---@return vim.lsp.Client?
local function start()
  local settings = vim.deepcopy(vim.lsp.config[M.name])
  local cmd = settings.cmd
  if type(cmd) == 'table' and vim.fn.executable(cmd[1]) == 0 then
    notify.error(
      ('the program %s is not found'):format(cmd[1]),
      "install it (pipx install . in a checkout), or name it: require('acp_bridge').setup{cmd = {…}}"
    )
    return nil
  end
  local cwd = vim.fn.getcwd()
  settings.root_dir = vim.fs.root(cwd, settings.root_markers or {}) or cwd
  local id = vim.lsp.start(settings, { attach = false })
  return id and vim.lsp.get_client_by_id(id) or nil
end

--- The client of the file at hand, else of this folder, else any.
---@return vim.lsp.Client?
function M.current()
  local clients = M.running()
  local buf = vim.api.nvim_get_current_buf()
  local best
  for _, client in ipairs(clients) do
    if client.attached_buffers[buf] then
      return client
    end
    if client.root_dir and vim.fs.relpath(client.root_dir, vim.fn.getcwd()) then
      if not best or #client.root_dir > #best.root_dir then
        best = client
      end
    end
  end
  return best or (#clients == 1 and not clients[1].root_dir and clients[1]) or nil
end

local prepared = {} ---@type table<integer, true>

--- Have a running client, started if need be; what fails has been said.
---@param callback fun(client: vim.lsp.Client)
function M.with(callback)
  local client = M.current() or start()
  if not client then
    return
  end
  when_ready(client, function(ready)
    if not ready then
      notify.error('the bridge did not start', 'look into :LspLog, and try `acp-bridge doctor` in a shell')
      return
    end
    if not prepared[ready.id] then
      prepared[ready.id] = true
      attach_files(ready)
    end
    callback(ready)
  end)
end

--- The folder new sessions of this client work in.
---@param client vim.lsp.Client
---@return string
function M.folder(client)
  return client.root_dir or vim.fn.getcwd()
end

--- Ask the bridge. Errors are shown as "`what`: …" unless `on_error` returns true.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param what string
---@param on_result fun(result: table)?
---@param on_error (fun(err: lsp.ResponseError): boolean?)?
function M.request(client, method, params, what, on_result, on_error)
  local sent = client:request(method, params, function(err, result)
    if err then
      if not (on_error and on_error(err)) then
        notify.rpc_error(what, err)
      end
    elseif on_result then
      on_result(null.strip(result) or {})
    end
  end)
  if not sent then
    local hint = 'start a new chat: :AcpBridgeNew'
    local err = { code = -32803, message = 'the bridge has ended', data = { hint = hint } }
    if not (on_error and on_error(err)) then
      notify.rpc_error(what, err)
    end
  end
end

--- The agents, if a client runs; waits at most a second (completion is synchronous).
---@return table[]
function M.agents_now()
  local client = M.current()
  if not client or not client.initialized then
    return {}
  end
  local answer = client:request_sync('acp/agents/list', vim.empty_dict(), 1000)
  return answer and answer.result and null.strip(answer.result).agents or {}
end

--- Apply the options to the language client's configuration.
---@param cmd string[]? as the user gave it, if at all
function M.configure(cmd)
  vim.lsp.config(M.name, { cmd = cmd, init_options = { acp = config.init_options() } })
  if config.options.enable then
    vim.lsp.enable(M.name)
  end
end

return M
