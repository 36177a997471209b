-- A change to one buffer can change the findings of every other, and Neovim asks again only for the one that changed.

local clients = require('autograd_lsp.client')

local M = {}

-- Milliseconds without a change before the other buffers are asked about.
local PATIENCE = 200

local changes = 0

local function depends_on_other_files(client)
  local provider = client.server_capabilities and client.server_capabilities.diagnosticProvider
  return type(provider) == 'table' and provider.interFileDependencies == true and provider
end

local function ask_about_all_but(client, changed)
  local provider = depends_on_other_files(client)
  for buffer in pairs(client.attached_buffers) do
    if buffer ~= changed and vim.api.nvim_buf_is_loaded(buffer) then
      local params = {
        identifier = provider.identifier,
        textDocument = vim.lsp.util.make_text_document_params(buffer),
      }
      clients.request(client, 'textDocument/diagnostic', params, nil, buffer)
    end
  end
end

local CHANGES = {
  ['textDocument/didOpen'] = true,
  ['textDocument/didChange'] = true,
  ['textDocument/didClose'] = true,
}

--- The server of `client_id` was sent the notification `method` about a buffer.
function M.notified(buffer, client_id, method)
  local client = vim.lsp.get_client_by_id(client_id)
  if not CHANGES[method] or not client or not clients.is_ours(client) or not depends_on_other_files(client) then
    return
  end
  changes = changes + 1
  local this = changes
  vim.defer_fn(function()
    if this == changes and vim.lsp.get_client_by_id(client_id) then
      ask_about_all_but(client, buffer)
    end
  end, PATIENCE)
end

return M
