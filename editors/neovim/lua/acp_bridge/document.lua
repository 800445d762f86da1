--- Saves a buffer for the bridge, as `:update` does: the user's own autocommands run, nothing is ever asked.

local M = {}

--- Whether the file is another than the one the buffer was read from. `:update` would ask then, and an open
--- question would keep the agent waiting.
---@param buf integer
---@return boolean
local function changed_on_disk(buf)
  local changed = false
  local watch = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      changed = true
      vim.v.fcs_choice = ''
    end,
  })
  vim.cmd.checktime(buf)
  vim.api.nvim_del_autocmd(watch)
  return changed
end

---@param uri string
---@return {ok: boolean, reason: string?}
function M.save(uri)
  local path = vim.uri_to_fname(uri)
  -- Not by bufnr(), which takes a name for a pattern.
  local buf = vim.fn.bufexists(path) == 1 and vim.fn.bufadd(path) or nil
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return { ok = false, reason = 'it is not open' }
  end
  if changed_on_disk(buf) then
    return { ok = false, reason = 'the file was changed on disk since it was read' }
  end
  local done, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('silent update')
  end)
  if not done then
    return { ok = false, reason = tostring(err) }
  end
  if vim.bo[buf].modified then
    return { ok = false, reason = 'it could not be written' }
  end
  return { ok = true }
end

return M
