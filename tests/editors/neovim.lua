-- Runs the script of a test inside Neovim, and writes what it returns as JSON.
--
-- The script is a coroutine between the turns of Neovim's own loop, so that keys are typed and autocommands happen as
-- they do for a person.

local PATIENCE = 90000

-- Wait until `predicate` says something true, and return that.
function await(what, predicate)
  local deadline = vim.uv.now() + PATIENCE
  while true do
    local found = predicate()
    if found then
      return found
    elseif vim.uv.now() > deadline then
      error('there was no ' .. what .. '; messages: ' .. vim.fn.execute('messages'), 2)
    end
    coroutine.yield(20)
  end
end

-- Let `milliseconds` go by.
function rest(milliseconds)
  coroutine.yield(milliseconds)
end

-- As if somebody typed them.
function type_keys(keys)
  vim.api.nvim_input(keys)
  coroutine.yield(50)
end

-- Show a file of the project, once our server is attached to it.
function open(name)
  vim.cmd.edit(vim.fn.fnameescape(vim.env.HOME .. '/project/' .. name))
  local buffer = vim.api.nvim_get_current_buf()
  await('server', function()
    local client = vim.lsp.get_clients({ bufnr = buffer, name = 'autograd_lsp' })[1]
    return client and client.initialized
  end)
  return buffer
end

function client()
  return vim.lsp.get_clients({ name = 'autograd_lsp' })[1]
end

-- The findings of a buffer, once there are exactly `count`.
function findings(buffer, count)
  return await(count .. ' findings', function()
    local found = vim.diagnostic.get(buffer)
    return #found == count and found
  end)
end

-- The one floating window, as its lines.
function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return { window = window, lines = lines(vim.api.nvim_win_get_buf(window)) }
    end
  end
end

function lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
end

-- The cursor's line and column in bytes, both from 1.
function cursor()
  local place = vim.api.nvim_win_get_cursor(0)
  return { place[1], place[2] + 1 }
end

function go_to(line, column)
  vim.api.nvim_win_set_cursor(0, { line, column - 1 })
end

-- What a person would see.
function screen()
  vim.cmd.redraw()
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(row, column)
    end
    rows[row] = table.concat(cells):gsub('%s+$', '')
  end
  return table.concat(rows, '\n')
end

local script = coroutine.create(function()
  vim.o.columns, vim.o.lines = 110, 28
  return xpcall(assert(loadfile(vim.env.AUTOGRAD_TEST_SCRIPT)), debug.traceback)
end)

local function go_on()
  local went, ok, answer = coroutine.resume(script)
  if went and coroutine.status(script) == 'suspended' then
    vim.defer_fn(go_on, ok)
    return
  end
  local told = { ok = went and ok, answer = went and answer or ok }
  vim.fn.writefile({ vim.json.encode(told) }, vim.env.AUTOGRAD_TEST_ANSWER)
  vim.cmd('qall!')
end

vim.schedule(go_on)
