-- For Neovim 0.11 and later, which finds this file on 'runtimepath': vim.lsp.enable('autograd_lsp').
---@type vim.lsp.Config
return {
  cmd = { 'autograd-lsp', 'server', '--stdio' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', '.git' },
}
