import torch


def _linear_hh(hidden, cell):
    return torch.ops.aten.linear(hidden, cell[1], cell[3])


def _linear_ih(input, cell):
    return torch.ops.aten.linear(input, cell[0], cell[2])


def _tanh_cell(gates, hidden, cell):
    return _linear_hh(hidden, cell).add_(gates).tanh()


def _relu_cell(gates, hidden, cell):
    return _linear_hh(hidden, cell).add_(gates).relu()


def _gru_cell(gates, hidden, cell):
    given = torch.ops.aten.unsafe_chunk(gates, 3, 1)
    kept = torch.ops.aten.unsafe_chunk(_linear_hh(hidden, cell), 3, 1)
    reset = kept[0].add_(given[0]).sigmoid_()
    update = kept[1].add_(given[1]).sigmoid_()
    new = given[2].add(kept[2].mul_(reset)).tanh_()
    return (hidden - new).mul_(update).add_(new)


def _lstm_cell(gates, hidden, cell):
    h, c = hidden
    parts = torch.ops.aten.unsafe_chunk(_linear_hh(h, cell).add_(gates), 4, 1)
    input_gate = parts[0].sigmoid_()
    forget_gate = parts[1].sigmoid_()
    cell_gate = parts[2].tanh_()
    output_gate = parts[3].sigmoid_()
    c = (forget_gate * c).add_(input_gate * cell_gate)
    h = output_gate * c.tanh()
    if cell[4] is not None:
        h = torch.matmul(h, cell[4].t())
    return h, c


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    cell = (w_ih, w_hh, b_ih, b_hh, None)
    return _tanh_cell(_linear_ih(input, cell), hx, cell)


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    cell = (w_ih, w_hh, b_ih, b_hh, None)
    return _relu_cell(_linear_ih(input, cell), hx, cell)


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    cell = (w_ih, w_hh, b_ih, b_hh, None)
    return _gru_cell(_linear_ih(input, cell), hx, cell)


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    cell = (w_ih, w_hh, b_ih, b_hh, None)
    return _lstm_cell(_linear_ih(input, cell), (hx[0], hx[1]), cell)


def _cells(params, has_biases, projected):
    """The weights of each layer and direction: for the input, for the state, the biases of both, for the projection."""
    size = 2 + 2 * has_biases + projected
    groups = [params[i:i + size] for i in range(0, len(params), size)]
    return [
        (g[0], g[1], g[2] if has_biases else None, g[3] if has_biases else None, g[-1] if projected else None)
        for g in groups
    ]


def _direction(step, steps, hidden, cell):
    outputs = []
    for gates in steps:
        hidden = step(gates, hidden, cell)
        outputs.append(hidden[0] if isinstance(hidden, tuple) else hidden)
    return outputs, hidden


def _layers(step, input, hidden, cells, num_layers, dropout, train, bidirectional):
    ends = []
    for layer in range(num_layers):
        if bidirectional:
            gates = _linear_ih(input, cells[2 * layer])
            outputs, last = _direction(step, gates.unbind(0), hidden[2 * layer], cells[2 * layer])
            forward = torch.stack(outputs, 0)
            gates = _linear_ih(input, cells[2 * layer + 1])
            steps = list(reversed(gates.unbind(0)))
            outputs, first = _direction(step, steps, hidden[2 * layer + 1], cells[2 * layer + 1])
            backward = torch.stack(list(reversed(outputs)), 0)
            input = torch.cat([forward, backward], forward.dim() - 1)
            ends += [last, first]
        else:
            steps = _linear_ih(input, cells[layer]).unbind(0)
            outputs, last = _direction(step, steps, hidden[layer], cells[layer])
            input = torch.stack(outputs, 0)
            ends.append(last)
        if dropout != 0 and train and layer < num_layers - 1:
            input = torch.dropout(input, dropout, True)
    return input, ends


def _one_state(step, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    if batch_first:
        input = input.transpose(0, 1)
    cells = _cells(params, has_biases, False)
    output, ends = _layers(step, input, hx.unbind(0), cells, num_layers, dropout, train, bidirectional)
    ends = torch.stack(ends, 0)
    if batch_first:
        output = output.transpose_(0, 1)
    return output, ends


def rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _one_state(_tanh_cell, input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
                      batch_first)


def rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _one_state(_relu_cell, input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
                      batch_first)


def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _one_state(_gru_cell, input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
                      batch_first)


def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    h, c = hx
    projected = h.size(2) != c.size(2)
    if batch_first:
        input = input.transpose(0, 1)
    cells = _cells(params, has_biases, projected)
    if not projected and input.dtype == torch.float32:
        output, hs, cs = _fused_lstm(input.contiguous(), h.contiguous(), c.contiguous(), cells, has_biases,
                                     num_layers, dropout, train, bidirectional, batch_first)
    else:
        hidden = list(zip(h.unbind(0), c.unbind(0)))
        output, ends = _layers(_lstm_cell, input, hidden, cells, num_layers, dropout, train, bidirectional)
        hs, cs = [end[0] for end in ends], [end[1] for end in ends]
    hs, cs = torch.stack(hs, 0), torch.stack(cs, 0)
    return output.transpose(0, 1) if batch_first else output, hs, cs


def _fused_lstm(input, h, c, cells, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """A single node for each layer and direction."""
    directions = 2 if bidirectional else 1
    size = h.size(2)
    hs, cs = [], []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            w_ih, w_hh, b_ih, b_hh, _ = cells[index]
            if not has_biases:
                b_ih, b_hh = torch.zeros(4 * size), torch.zeros(4 * size)
            output, last_h, last_c, _ = torch.ops.aten.mkldnn_rnn_layer(
                input, w_ih, w_hh, b_ih, b_hh, h[index], c[index], direction > 0, [], 2, size, num_layers, has_biases,
                bidirectional, batch_first, train,
            )
            outputs.append(output)
            hs.append(last_h)
            cs.append(last_c)
        input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
        if dropout != 0 and train and layer < num_layers - 1:
            input = torch.dropout(input, dropout, True)
    return input, hs, cs
