--- A tool's change in a tab page of its own, old text left and new text right; `q` closes it.

local M = {}

---@param text string
---@param name string
---@param path string
---@return integer
local function scratch(text, name, path)
  local buf = vim.api.nvim_create_buf(false, true)
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' and #lines > 1 then
    table.remove(lines)
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  local short = vim.fn.fnamemodify(path, ':~:.')
  vim.api.nvim_buf_set_name(buf, ('acp-bridge://%d/%s/%s'):format(buf, name, short))
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local filetype = vim.filetype.match({ filename = path, contents = lines })
  if filetype then
    -- Its highlighting only: no plugin or server should take it for the file.
    if not pcall(vim.treesitter.start, buf, vim.treesitter.language.get_lang(filetype)) then
      vim.bo[buf].syntax = filetype
    end
  end
  return buf
end

---@param buf integer
local function close_with_q(buf)
  vim.keymap.set('n', 'q', vim.cmd.tabclose, { buffer = buf, nowait = true, desc = 'acp-bridge: close' })
end

---@param item {path: string?, oldText: string?, newText: string?, patch: string?}
function M.open(item)
  local path = item.path or 'changes'
  if (item.newText or '') == '' and not item.oldText and item.patch then
    M.open_text(item.patch, 'diff')
    return
  end
  local old = scratch(item.oldText or '', item.oldText and 'old' or 'no-file-yet', path)
  local new = scratch(item.newText or '', 'new', path)
  vim.cmd.tabnew()
  local spare = vim.api.nvim_get_current_buf()
  vim.api.nvim_win_set_buf(0, old)
  vim.cmd.diffthis()
  vim.api.nvim_open_win(new, true, { split = 'right', win = 0 })
  vim.cmd.diffthis()
  vim.api.nvim_buf_delete(spare, { force = true })
  close_with_q(old)
  close_with_q(new)
end

--- A long text in a tab page of its own.
---@param text string
---@param filetype string?
function M.open_text(text, filetype)
  local buf = scratch(text, 'text', 'output')
  vim.bo[buf].syntax = filetype or ''
  vim.cmd.tabnew()
  local spare = vim.api.nvim_get_current_buf()
  vim.api.nvim_win_set_buf(0, buf)
  vim.api.nvim_buf_delete(spare, { force = true })
  close_with_q(buf)
end

return M
