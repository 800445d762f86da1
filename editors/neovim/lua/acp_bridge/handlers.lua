--- What the bridge tells and asks us, by method. Decides nothing.

local document = require('acp_bridge.document')
local notify = require('acp_bridge.notify')
local null = require('acp_bridge.null')

local agent_state = {} ---@type table<string, string>

---@type table<string, lsp.Handler>
return {
  ['acp/thread/changed'] = function(_, params)
    require('acp_bridge.sessions').thread_changed(params)
  end,
  ['acp/session/changed'] = function(_, params, ctx)
    require('acp_bridge.sessions').session_changed(ctx.client_id, null.strip(params.session))
  end,
  ['acp/permission/requested'] = function(_, params)
    require('acp_bridge.permission').requested(null.strip(params.request))
  end,
  ['acp/permission/resolved'] = function(_, params)
    require('acp_bridge.permission').resolved(params.requestId)
  end,
  ['acp/agent/changed'] = function(_, params)
    local agent = null.strip(params.agent)
    local before = agent_state[agent.id]
    agent_state[agent.id] = agent.state
    if agent.state == 'authRequired' and before ~= 'authRequired' then
      notify.warn(('%s wants you to log in: :AcpBridgeLogin %s'):format(agent.displayName, agent.id))
    end
  end,
  ['workspace/applyEdit'] = function(err, params, ctx)
    -- Neovim prints the label over whatever the user reads; the chat tells of the edit.
    params.label = nil
    return vim.lsp.handlers['workspace/applyEdit'](err, params, ctx)
  end,
  ['acp/document/save'] = function(_, params)
    return document.save(params.uri)
  end,
}
