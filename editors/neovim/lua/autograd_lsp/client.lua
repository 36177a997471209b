-- Our client of a buffer, and how to ask it something, in each version of Neovim.

local M = {}

function M.is_ours(client)
  local server = client.server_info -- which Neovim 0.10 does not keep
  return (server and server.name == 'autograd-lsp') or client.name == 'autograd_lsp' or client.name == 'autograd-lsp'
end

--- All of them, or those of one buffer.
function M.all(buffer)
  return vim.tbl_filter(M.is_ours, vim.lsp.get_clients({ bufnr = buffer }))
end

function M.of(buffer)
  return M.all(buffer)[1]
end

function M.request(client, method, params, handler, buffer)
  if vim.fn.has('nvim-0.11') == 1 then
    return client:request(method, params, handler, buffer)
  end
  return client.request(method, params, handler, buffer)
end

function M.tell(message, level)
  vim.notify('autograd-lsp: ' .. message, level or vim.log.levels.INFO)
end

return M
