--- The chat of one session: a read-only buffer that shows the thread, and a prompt buffer below it.

local View = require('acp_bridge.view')
local config = require('acp_bridge.config')
local diff = require('acp_bridge.diff')
local follow = require('acp_bridge.follow')
local notify = require('acp_bridge.notify')
local permission = require('acp_bridge.permission')
local sessions = require('acp_bridge.sessions')

---@class acp_bridge.Chat
---@field session acp_bridge.Session
---@field buf integer
---@field prompt_buf integer
---@field view acp_bridge.View
local Chat = {}
Chat.__index = Chat

local count = 0

---@param name string
---@param filetype string
---@param session acp_bridge.Session
---@return integer
local function scratch(name, filetype, session)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden = 'hide'
  -- :bdelete takes text and keys away; what is left of the buffer would stand in the way of a new one.
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = buf,
    callback = vim.schedule_wrap(function()
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
    end),
  })
  vim.b[buf].acp_bridge_session = session.id
  vim.bo[buf].filetype = filetype
  return buf
end

--- The chat of a session, made if there is none.
---@param session acp_bridge.Session
---@return acp_bridge.Chat
function Chat.of(session)
  if session.chat and vim.api.nvim_buf_is_loaded(session.chat.buf) then
    return session.chat
  end
  count = count + 1
  local self = setmetatable({ session = session }, Chat)
  local name = ('acp-bridge://%d/%s'):format(count, session.summary.agent)
  self.buf = scratch(name, 'acp_bridge_chat', session)
  vim.bo[self.buf].modifiable = false
  vim.bo[self.buf].undolevels = -1
  pcall(vim.treesitter.start, self.buf, 'markdown')
  self:new_prompt(name)
  session.chat = self
  self.view = View.new(self.buf, session.thread, function()
    return {
      agent = sessions.agent_name(session),
      cwd = session.summary.cwd,
      pending = permission.by_entry(session),
    }
  end)
  self:map_chat()
  return self
end

---@private
---@param name string
function Chat:new_prompt(name)
  self.prompt_buf = scratch(name .. '/prompt', 'acp_bridge_prompt', self.session)
  vim.bo[self.prompt_buf].omnifunc = "v:lua.require'acp_bridge.complete'.omnifunc"
  self:map_prompt()
end

---@private
---@param buf integer
---@param modes string|string[]
---@param keys string
---@param what string
---@param action fun()
function Chat:map(buf, modes, keys, what, action)
  vim.keymap.set(modes, keys, action, { buffer = buf, nowait = true, desc = 'acp-bridge: ' .. what })
end

--- The help page at its keys. Where nobody has made help tags the page is opened as a file.
local function show_keys()
  if pcall(vim.cmd.help, 'acp_bridge-keys') then
    return
  end
  local page = assert(vim.api.nvim_get_runtime_file('doc/acp_bridge.txt', false)[1])
  vim.cmd.sview(vim.fn.fnameescape(page))
  vim.bo.filetype = 'help'
  vim.bo.buftype = 'help'
  vim.fn.search('\\*acp_bridge-keys\\*', 'w')
  vim.cmd.normal({ 'zt', bang = true })
end

---@private
function Chat:map_chat()
  local function map(keys, what, action)
    self:map(self.buf, 'n', keys, what, action)
  end
  local function write()
    self:show(true)
  end
  for _, keys in ipairs({ 'i', 'a', 'o', 'I', 'A', 'O' }) do
    map(keys, 'write a prompt', write)
  end
  map('<CR>', 'decide, or open what stands here', function()
    self:follow_link()
  end)
  map('gf', 'open the file', function()
    self:follow_link()
  end)
  map('gd', 'show the change', function()
    self:show_diff()
  end)
  for _, keys in ipairs({ '<Tab>', 'za', 'zo', 'zc' }) do
    map(keys, 'open or close a long part', function()
      self:toggle()
    end)
  end
  map('<C-c>', 'cancel the turn', function()
    self:cancel()
  end)
  map(']]', 'next prompt', function()
    self:jump(1)
  end)
  map('[[', 'previous prompt', function()
    self:jump(-1)
  end)
  map('q', 'close the chat', function()
    self:hide()
  end)
  map('g?', 'help', show_keys)
end

---@private
function Chat:map_prompt()
  local function send()
    vim.cmd.stopinsert()
    self:send()
  end
  self:map(self.prompt_buf, 'n', '<CR>', 'send', send)
  self:map(self.prompt_buf, { 'n', 'i' }, '<C-s>', 'send', send)
  self:map(self.prompt_buf, 'n', '<C-c>', 'cancel the turn', function()
    self:cancel()
  end)
  self:map(self.prompt_buf, 'n', 'q', 'close the chat', function()
    self:hide()
  end)
  self:map(self.prompt_buf, 'n', 'g?', 'help', show_keys)
end

---@param buf integer
---@return integer? win in this tab page
local function window_of(buf)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

---@return vim.api.keyset.win_config?
local function placement()
  local options = config.options.chat
  if options.position == 'tab' then
    vim.cmd.tabnew()
    vim.bo.bufhidden = 'wipe'
    return nil
  end
  local across = options.position == 'left' or options.position == 'right'
  local size = options.size
  if size < 1 then
    size = (across and vim.o.columns or vim.o.lines) * size
  end
  local split = ({ top = 'above', bottom = 'below' })[options.position] or options.position
  return { split = split, win = -1, [across and 'width' or 'height'] = math.max(10, math.floor(size)) }
end

---@private
function Chat:open_chat()
  local place = placement()
  local win
  if place then
    win = vim.api.nvim_open_win(self.buf, true, place)
  else
    win = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(win, self.buf)
  end
  local options = {
    wrap = true,
    linebreak = true,
    breakindent = true,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    statuscolumn = ' ',
    foldcolumn = '0',
    spell = false,
    list = false,
    cursorline = false,
    winfixwidth = true,
    conceallevel = 2,
    concealcursor = 'nc',
    foldenable = false,
    fillchars = 'eob: ',
    winbar = "%{%v:lua.require'acp_bridge.winbar'.chat()%}",
  }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  follow.to_end(self.buf, { win })
  return win
end

---@private
---@param chat_win integer
---@return integer
function Chat:open_prompt(chat_win)
  local height = config.options.chat.prompt_height
  local win = vim.api.nvim_open_win(self.prompt_buf, true, { split = 'below', win = chat_win, height = height })
  local options = {
    wrap = true,
    linebreak = true,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    statuscolumn = ' ',
    winfixheight = true,
    fillchars = 'eob: ',
    winbar = "%{%v:lua.require'acp_bridge.winbar'.prompt()%}",
  }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  return win
end

--- Show the chat in this tab page; the cursor goes to the prompt.
---@param insert boolean? start writing
function Chat:show(insert)
  sessions.use(self.session)
  if not vim.api.nvim_buf_is_loaded(self.prompt_buf) then
    self:new_prompt(vim.api.nvim_buf_get_name(self.buf))
  end
  local chat_win = window_of(self.buf) or self:open_chat()
  local prompt_win = window_of(self.prompt_buf) or self:open_prompt(chat_win)
  vim.api.nvim_set_current_win(prompt_win)
  if insert then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Close the windows of the chat; its text stays.
function Chat:hide()
  for _, buf in ipairs({ self.prompt_buf, self.buf }) do
    local win = window_of(buf)
    if win and #vim.api.nvim_tabpage_list_wins(0) > 1 then
      vim.api.nvim_win_close(win, true)
    elseif win then
      vim.cmd.enew()
    end
  end
end

--- Send what stands in the prompt; it is cleared once the bridge has taken it.
function Chat:send()
  local lines = vim.api.nvim_buf_get_lines(self.prompt_buf, 0, -1, false)
  local text = vim.trim(table.concat(lines, '\n'))
  if text == '' then
    notify.info('the prompt is empty')
    return
  end
  self:prompt(text, function()
    local now = vim.api.nvim_buf_get_lines(self.prompt_buf, 0, -1, false)
    if vim.deep_equal(now, lines) then
      vim.api.nvim_buf_set_lines(self.prompt_buf, 0, -1, false, {})
    end
  end)
end

--- Send a prompt; the view goes to the end, where the answer comes.
---@param text string
---@param on_taken fun()?
function Chat:prompt(text, on_taken)
  follow.to_end(self.buf, vim.fn.win_findbuf(self.buf))
  sessions.request(self.session, 'acp/session/prompt', { prompt = text }, 'the prompt was not taken', function()
    if on_taken then
      on_taken()
    end
  end)
end

--- Cancel the running turn.
function Chat:cancel()
  local what = 'the turn was not cancelled'
  sessions.request(self.session, 'acp/session/cancel', vim.empty_dict(), what, function(result)
    if not result.cancelled then
      notify.info('no turn is running')
    end
  end)
end

--- State or usage changed.
function Chat:show_state()
  vim.cmd.redrawstatus({ bang = true })
end

---@private
---@return string? id
---@return acp_bridge.Target
function Chat:under_cursor()
  local id, line = self.view:at(vim.api.nvim_win_get_cursor(0)[1])
  return id, line and line.target or {}
end

---@private
function Chat:toggle()
  if not self.view:toggle(vim.api.nvim_win_get_cursor(0)[1]) then
    notify.info('nothing to open or close here')
  end
end

---@private
function Chat:follow_link()
  local id, target = self:under_cursor()
  local waiting = id and permission.by_entry(self.session)[id]
  if target.request or (waiting and not target.location) then
    permission.ask_again(target.request or waiting.requestId)
  elseif target.location then
    self:open_file(target.location)
  elseif target.diff and target.diff.uri then
    self:open_file(target.diff)
  elseif not self:open_word() and not self.view:toggle(vim.api.nvim_win_get_cursor(0)[1]) then
    notify.info('nothing to open here')
  end
end

--- Open the file named under the cursor, as `gf` does, relative to the session's folder.
---@private
---@return boolean
function Chat:open_word()
  local path, line = vim.fn.expand('<cfile>'), vim.fn.expand('<cWORD>'):match(':(%d+)')
  if path == '' then
    return false
  end
  local full = vim.fs.normalize(path:sub(1, 1) == '/' and path or vim.fs.joinpath(self.session.summary.cwd, path))
  if vim.fn.filereadable(full) == 0 then
    return false
  end
  self:open_file({ uri = vim.uri_from_fname(full), line = line and tonumber(line) - 1 or nil })
  return true
end

--- Open a file in a window that is not the chat's.
---@private
---@param location {uri: string, line: integer?}
function Chat:open_file(location)
  local other = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    local buf = vim.api.nvim_win_get_buf(win)
    local floats = vim.api.nvim_win_get_config(win).relative ~= ''
    return vim.bo[buf].buftype == '' and not floats
  end)
  if other then
    vim.api.nvim_set_current_win(other)
  else
    vim.cmd('leftabove vsplit')
  end
  -- Not by :edit, which would read a file anew that is shown already.
  local buf = vim.fn.bufadd(vim.uri_to_fname(location.uri))
  vim.bo[buf].buflisted = true
  vim.cmd.buffer(buf)
  if location.line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min(location.line + 1, last), 0 })
  end
end

---@private
function Chat:show_diff()
  local id, target = self:under_cursor()
  if target.diff then
    diff.open(target.diff)
  elseif target.text then
    diff.open_text(target.text)
  else
    local entry = id and self.session.thread:entry(id) --[[@as table?]]
    local first = entry
      and vim.iter(entry.content or {}):find(function(item)
        return item.type == 'diff'
      end)
    if first then
      diff.open(first)
    else
      notify.info('no change here')
    end
  end
end

---@private
---@param direction 1|-1
function Chat:jump(direction)
  local here = vim.api.nvim_win_get_cursor(0)[1]
  local best
  for _, line in ipairs(self.view:lines_of('user')) do
    if direction > 0 and line > here then
      best = best or line
    elseif direction < 0 and line < here then
      best = line
    end
  end
  vim.api.nvim_win_set_cursor(0, { best or (direction > 0 and vim.api.nvim_buf_line_count(0) or 1), 0 })
end

return Chat
