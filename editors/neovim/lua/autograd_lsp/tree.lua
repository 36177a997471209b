-- An autograd graph, as autograd/graph answers it, as the lines of an indented tree.
--
-- The tree reads the way gradients flow, from the tensor down to its leaves. A node that several others share is told
-- once, and only named wherever else it is reached.

local M = {}

local GROUPS = {
  tensor = 'AutogradGraphTensor',
  operator = 'AutogradGraphOperator',
  leaf = 'AutogradGraphLeaf',
  cut = 'AutogradGraphCut',
  unknown = 'AutogradGraphUnknown',
}

--- The highlight groups, and what each is linked to unless the user says otherwise.
M.links = {
  AutogradGraphTensor = 'Title',
  AutogradGraphOperator = 'Function',
  AutogradGraphLeaf = 'String',
  AutogradGraphCut = 'DiagnosticError',
  AutogradGraphUnknown = 'Comment',
  AutogradGraphSaved = 'Special',
  AutogradGraphFreed = 'DiagnosticWarn',
  AutogradGraphBranch = 'NonText',
  AutogradGraphNote = 'Comment',
}

-- JSON's null is nil or vim.NIL, as the version of Neovim has it.
local function known(value)
  return value ~= nil and value ~= vim.NIL
end

--- What is worth saying of a node beside its label, as pairs of words and highlight group.
local function remarks(node)
  local said = {}
  local function say(words, group)
    said[#said + 1] = { words, group }
  end
  if node.kind == 'leaf' or (node.kind == 'tensor' and node.is_leaf == true) then
    say('leaf', GROUPS.leaf)
  elseif node.kind == 'cut' then
    say('gradient stops here', GROUPS.cut)
  elseif node.kind == 'unknown' then
    say('not known', GROUPS.unknown)
  end
  if node.kind == 'tensor' and known(node.requires_grad) then
    say('requires_grad=' .. (node.requires_grad and 'True' or 'False'), GROUPS.tensor)
  end
  if known(node.saved) and #node.saved > 0 then
    say('saves ' .. table.concat(node.saved, ', '), 'AutogradGraphSaved')
  end
  if node.freed == true then
    say('freed', 'AutogradGraphFreed')
  end
  return said
end

--- A row is `text`, `marks` (byte columns and highlight group) and the `node` that it tells of, if any.
local function new_row(node)
  local row = { text = '', marks = {}, node = node }
  function row.add(words, group)
    local start = #row.text
    row.text = row.text .. words:gsub('[\r\n]', ' ')
    if group then
      row.marks[#row.marks + 1] = { start, #row.text, group }
    end
  end
  return row
end

local function children_of(graph)
  local nodes, children = {}, {}
  for _, node in ipairs(graph.nodes) do
    nodes[node.id], children[node.id] = node, {}
  end
  for _, edge in ipairs(graph.edges) do
    if children[edge.from] and nodes[edge.to] then
      table.insert(children[edge.from], nodes[edge.to])
    end
  end
  return children
end

--- Depth first with a stack of its own: the graph of a long loop is deeper than Lua's.
function M.rows(graph)
  local rows, told, children = {}, {}, children_of(graph)
  local stack = graph.nodes[1] and { { graph.nodes[1], '', '' } } or {}
  while #stack > 0 do
    local node, lead, indent = unpack(table.remove(stack))
    local row, below = new_row(node), children[node.id]
    row.add(lead, 'AutogradGraphBranch')
    row.add(node.label, GROUPS[node.kind] or GROUPS.unknown)
    if told[node.id] then
      if #below > 0 then
        row.add('  (see above)', 'AutogradGraphNote')
      end
    else
      told[node.id] = true
      for index, remark in ipairs(remarks(node)) do
        row.add(index == 1 and '  ' or ', ')
        row.add(remark[1], remark[2])
      end
      for index = #below, 1, -1 do
        local last = index == #below
        stack[#stack + 1] =
          { below[index], indent .. (last and '└─ ' or '├─ '), indent .. (last and '   ' or '│  ') }
      end
    end
    rows[#rows + 1] = row
  end
  for _, note in ipairs(known(graph.notes) and graph.notes or {}) do
    local row = new_row(nil)
    row.add('note: ' .. note, 'AutogradGraphNote')
    rows[#rows + 1] = row
  end
  return rows
end

return M
