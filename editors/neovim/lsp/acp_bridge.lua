---@brief
--- acp-bridge: coding agents over the language server protocol.
--- Started by `vim.lsp.enable('acp_bridge')`, or by the first :AcpBridge command. Options come from
--- `require('acp_bridge').setup()`, see |acp_bridge-setup|.

local config = require('acp_bridge.config')

---@type vim.lsp.Config
return {
  cmd = config.options.cmd,
  -- No filetypes: an agent may edit any file, and the bridge must see its unsaved text.
  root_markers = { '.acp-bridge', '.git', '.hg', '.jj', '.svn' },
  -- A bridge for each project; a file of no project joins the one that runs.
  reuse_client = function(client, wanted)
    return client.name == wanted.name and (not wanted.root_dir or client.root_dir == wanted.root_dir)
  end,
  capabilities = {
    -- Neovim can do it and does not say so; with it every edit names the version it is made for.
    workspace = { workspaceEdit = { documentChanges = true } },
  },
  -- The bridge refuses edits of a text it has not seen yet: tell it soon.
  flags = { debounce_text_changes = 10 },
  init_options = { acp = config.init_options() },
  before_init = function(params, client_config)
    local acp = params.initializationOptions and params.initializationOptions.acp
    if acp then
      acp.trusted = config.trusts(client_config.root_dir)
    end
  end,
  handlers = require('acp_bridge.handlers'),
  on_exit = function(code, signal, client_id)
    vim.schedule(function()
      require('acp_bridge.sessions').client_ended(client_id, code, signal)
    end)
  end,
}
