-- The window with the autograd graph of the tensor under the cursor; there is one at most.
--
-- It is opened at the cursor and closed when it is left, or it stays in the corner and follows the cursor.

local clients = require('autograd_lsp.client')
local options = require('autograd_lsp.options')
local tree = require('autograd_lsp.tree')

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace('autograd_lsp.graph')
local GROUP = 'autograd_lsp.graph'

-- `window` and `buffer` once something is shown; `source` is the window whose cursor was asked about last.
local view = nil
local asked = 0

local function is_shown()
  return view ~= nil and view.window ~= nil and vim.api.nvim_win_is_valid(view.window)
end

function M.close()
  local closing = view
  view = nil
  vim.api.nvim_create_augroup(GROUP, { clear = true })
  if closing and closing.window and vim.api.nvim_win_is_valid(closing.window) then
    vim.api.nvim_win_close(closing.window, true)
  end
end

--- To the line that made the node under the cursor.
function M.jump()
  local row = is_shown() and view.rows[vim.api.nvim_win_get_cursor(view.window)[1]]
  local node = row and row.node
  if not node then
    return
  end
  if type(node.range) ~= 'table' or not node.uri then
    clients.tell(('no line of the program made `%s`'):format(node.label))
    return
  end
  local encoding = view.encoding
  if vim.api.nvim_win_is_valid(view.source) then
    vim.api.nvim_set_current_win(view.source)
  end
  if view and not view.follow then
    M.close()
  end
  local shown = { focus = true, reuse_win = true }
  vim.lsp.util.show_document({ uri = node.uri, range = node.range }, encoding, shown)
end

local function border()
  local chosen = options.get().graph.border
  if chosen ~= '' then
    return chosen
  end
  local everywhere = vim.fn.exists('+winborder') == 1 and vim.o.winborder or ''
  return everywhere == '' and 'rounded' or nil
end

--- Where the window goes and how large it is.
local function placement(rows, title)
  local width = vim.fn.strdisplaywidth(title)
  for _, row in ipairs(rows) do
    width = math.max(width, vim.fn.strdisplaywidth(row.text))
  end
  local place = { width = math.max(math.min(width, vim.o.columns - 4), 1), title = title }
  local room = vim.o.lines - vim.o.cmdheight - 4
  if view.follow then
    place.relative, place.anchor, place.row, place.col = 'editor', 'NE', 0, vim.o.columns
    room = math.floor(room / 2)
  else
    place.relative, place.row, place.col = 'cursor', 1, 0
  end
  place.height = math.max(math.min(#rows, room), 1)
  return place
end

local function open_window(place)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].filetype = 'autograd-graph'
  for key, act in pairs({ q = M.close, ['<CR>'] = M.jump }) do
    vim.keymap.set('n', key, act, { buffer = buffer, nowait = true })
  end
  place = vim.tbl_extend('error', place, { style = 'minimal', border = border() })
  view.buffer, view.window = buffer, vim.api.nvim_open_win(buffer, not view.follow, place)
  vim.wo[view.window].wrap = false
  vim.wo[view.window].cursorline = true
  local function gone()
    if view and view.buffer == buffer then
      M.close()
    end
  end
  local closed = { group = GROUP, pattern = tostring(view.window), callback = vim.schedule_wrap(gone) }
  vim.api.nvim_create_autocmd('WinClosed', closed)
  if not view.follow then
    -- A window cannot be closed while it is being left.
    vim.api.nvim_create_autocmd('WinLeave', { group = GROUP, buffer = buffer, callback = vim.schedule_wrap(gone) })
  end
end

local function show(graph)
  for group, link in pairs(tree.links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
  view.rows = tree.rows(graph)
  local place = placement(view.rows, (' graph of %s '):format(graph.name:gsub('%s+', ' ')))
  if is_shown() then
    vim.api.nvim_win_set_config(view.window, place)
  else
    open_window(place)
  end
  local lines = vim.tbl_map(function(row)
    return row.text
  end, view.rows)
  vim.bo[view.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(view.buffer, 0, -1, false, lines)
  vim.bo[view.buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(view.buffer, NAMESPACE, 0, -1)
  for index, row in ipairs(view.rows) do
    for _, mark in ipairs(row.marks) do
      local place_of_mark = { end_col = mark[2], hl_group = mark[3] }
      vim.api.nvim_buf_set_extmark(view.buffer, NAMESPACE, index - 1, mark[1], place_of_mark)
    end
  end
end

--- Ask about the cursor of the current window. Only the last question's answer counts.
local function ask()
  local source = vim.api.nvim_get_current_win()
  local buffer = vim.api.nvim_win_get_buf(source)
  local client = clients.of(buffer)
  if not client then
    return false
  end
  asked = asked + 1
  local question, asking = asked, view
  local params = vim.lsp.util.make_position_params(source, client.offset_encoding)
  clients.request(client, 'autograd/graph', params, function(failure, graph)
    if view ~= asking or asked ~= question then
      return
    elseif type(graph) == 'table' and graph.nodes and #graph.nodes > 0 then
      view.source, view.encoding = source, client.offset_encoding
      show(graph)
    elseif not view.follow then
      -- What follows the cursor keeps the last graph where there is none.
      M.close()
      clients.tell(failure and failure.message or 'no tensor is known here')
    end
  end, buffer)
  return true
end

local function follow()
  local moves = 0
  local function moved()
    moves = moves + 1
    local this = moves
    vim.defer_fn(function()
      if moves == this and view and view.follow and vim.api.nvim_get_current_win() ~= view.window then
        ask()
      end
    end, options.get().graph.patience)
  end
  local events = { 'CursorMoved', 'TextChanged', 'InsertLeave', 'BufEnter' }
  vim.api.nvim_create_autocmd(events, { group = GROUP, callback = moved })
end

--- `following`: stay and follow the cursor, or stop that where it does already.
function M.open(following)
  following = following or options.get().graph.follow
  local stops = following and view ~= nil and view.follow
  M.close()
  if stops then
    return
  end
  view = { follow = following, rows = {} }
  if not ask() then
    view = nil
    clients.tell('the server is not attached to this buffer; see :checkhealth autograd_lsp', vim.log.levels.WARN)
  elseif following then
    follow()
  end
end

return M
