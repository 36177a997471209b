-- :checkhealth autograd_lsp

local clients = require('autograd_lsp.client')
local options = require('autograd_lsp.options')

local M = {}

local function check_neovim()
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok(('Neovim %s'):format(tostring(vim.version())))
  else
    vim.health.error('Neovim is too old', 'Neovim 0.10 or later is needed')
  end
end

local function check_options()
  local problems = options.problems()
  for _, problem in ipairs(problems) do
    vim.health.warn(problem, ':help autograd-lsp-options')
  end
  if #problems == 0 then
    vim.health.ok('the options are as they should be')
  end
end

-- The command that starts the server: of a client that runs, else the configured one.
local function command()
  local running = clients.all()[1]
  local configured = vim.fn.has('nvim-0.11') == 1 and vim.lsp.config.autograd_lsp or {}
  local found = running and running.config.cmd or configured.cmd
  return type(found) == 'table' and found or { 'autograd-lsp', 'server' }
end

-- The same program, asked for its version in the place of the server.
local function version_command()
  local words = {}
  for _, word in ipairs(command()) do
    if word == 'server' then
      break
    end
    words[#words + 1] = word
  end
  words[#words + 1] = '--version'
  return words
end

local function check_program()
  local words = version_command()
  if vim.fn.executable(words[1]) == 0 then
    vim.health.error(('%s is not an executable program'):format(words[1]), {
      'docs/start.md of the repository says how to install it',
      "or give the full path: vim.lsp.config('autograd_lsp', { cmd = { 'PATH/autograd-lsp', 'server' } })",
    })
    return
  end
  local done = vim.system(words, { text = true }):wait(10000)
  if done.code == 0 then
    vim.health.ok(('%s (%s)'):format(vim.trim(done.stdout), vim.fn.exepath(words[1])))
  else
    vim.health.error(('%s: %s'):format(table.concat(words, ' '), vim.trim(done.stderr or '')))
  end
end

local function check_clients()
  local running = clients.all()
  if #running == 0 then
    local advice = vim.fn.has('nvim-0.11') == 1 and "vim.lsp.enable('autograd_lsp') in init.lua"
      or "vim.cmd.runtime('nvim-0.10.lua') in init.lua"
    vim.health.info('no server is running; open a Python file. If there is none then either: ' .. advice)
  end
  for _, client in ipairs(running) do
    local offers = client.server_capabilities or {}
    local server = client.server_info or { name = client.name }
    vim.health.ok(('%s %s is running in %s'):format(server.name, server.version or '', client.root_dir or 'no project'))
    vim.health.info(('positions are counted in %s'):format(client.offset_encoding))
    vim.health.info('diagnostics are ' .. (offers.diagnosticProvider and 'pulled' or 'pushed'))
    vim.health.info('code lenses are ' .. (offers.codeLensProvider and 'offered' or 'not offered'))
  end
end

function M.check()
  vim.health.start('autograd-lsp')
  check_neovim()
  check_options()
  check_program()
  check_clients()
end

return M
