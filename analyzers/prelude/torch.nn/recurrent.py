import autograd_machine
import torch
from torch.nn import Parameter
from torch.nn.utils.rnn import PackedSequence


class RNNBase(Module):
    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._flat_weights_names = []
        gates = 4 if mode == "LSTM" else 3 if mode == "GRU" else 1
        out = proj_size if proj_size else hidden_size
        ends = ["", "_reverse"] if bidirectional else [""]
        for layer in range(num_layers):
            into = input_size if layer == 0 else out * len(ends)
            for end in ends:
                self._add(f"weight_ih_l{layer}{end}", torch.empty((gates * hidden_size, into), dtype=dtype))
                self._add(f"weight_hh_l{layer}{end}", torch.empty((gates * hidden_size, out), dtype=dtype))
                if bias:
                    self._add(f"bias_ih_l{layer}{end}", torch.empty(gates * hidden_size, dtype=dtype))
                    self._add(f"bias_hh_l{layer}{end}", torch.empty(gates * hidden_size, dtype=dtype))
                if proj_size:
                    self._add(f"weight_hr_l{layer}{end}", torch.empty((proj_size, hidden_size), dtype=dtype))
        self.reset_parameters()

    def _add(self, name, tensor):
        setattr(self, name, Parameter(tensor))
        self._flat_weights_names.append(name)

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        weights = self._flat_weights
        step = len(weights) // (self.num_layers * (2 if self.bidirectional else 1))
        return [weights[i:i + step] for i in range(0, len(weights), step)]

    def flatten_parameters(self):
        pass

    def reset_parameters(self):
        autograd_machine.initialise(self, "_parameters")

    def _start(self, input, batch, size):
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return torch.zeros(layers, batch, size, dtype=input.dtype)

    def _run(self, operator, input, hx):
        return operator(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                        self.bidirectional, self.batch_first)

    def _run_packed(self, operator, packed, hx):
        return operator(packed.data, packed.batch_sizes, hx, self._flat_weights, self.bias, self.num_layers,
                        self.dropout, self.training, self.bidirectional)


def _ordered(hidden, order):
    return hidden if order is None else hidden.index_select(1, order)


def _forward_single(module, operator, input, hx):
    """RNN and GRU, whose state is a single tensor."""
    if isinstance(input, PackedSequence):
        if hx is None:
            hx = module._start(input.data, input._batch, module.hidden_size)
        else:
            hx = _ordered(hx, input.sorted_indices)
        output, hidden = module._run_packed(operator, input, hx)
        packed = input._with(output)
        return packed, _ordered(hidden, input.unsorted_indices)
    batched = input.dim() == 3
    batch_dim = 0 if module.batch_first else 1
    if not batched:
        input = input.unsqueeze(batch_dim)
        if hx is not None:
            hx = hx.unsqueeze(1)
    if hx is None:
        hx = module._start(input, input.size(batch_dim), module.hidden_size)
    output, hidden = module._run(operator, input, hx)
    if not batched:
        return output.squeeze(batch_dim), hidden.squeeze(1)
    return output, hidden


class RNN(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, device=None, dtype=None):
        self.nonlinearity = nonlinearity
        super().__init__("RNN_RELU" if nonlinearity == "relu" else "RNN_TANH", input_size, hidden_size, num_layers,
                         bias, batch_first, dropout, bidirectional, 0, device, dtype)

    def forward(self, input, hx=None):
        return _forward_single(self, torch.rnn_relu if self.mode == "RNN_RELU" else torch.rnn_tanh, input, hx)


class GRU(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
                         device, dtype)

    def forward(self, input, hx=None):
        return _forward_single(self, torch.gru, input, hx)


class LSTM(RNNBase):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         proj_size, device, dtype)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
        if hx is None:
            hx = self._zeros(input, input.size(batch_dim))
        elif not batched:
            hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        output, h, c = self._run(torch.lstm, input, hx)
        if not batched:
            return output.squeeze(batch_dim), (h.squeeze(1), c.squeeze(1))
        return output, (h, c)

    def _zeros(self, input, batch):
        out = self.proj_size if self.proj_size else self.hidden_size
        return (self._start(input, batch, out), self._start(input, batch, self.hidden_size))

    def _forward_packed(self, input, hx):
        if hx is None:
            hx = self._zeros(input.data, input._batch)
        else:
            hx = (_ordered(hx[0], input.sorted_indices), _ordered(hx[1], input.sorted_indices))
        output, h, c = self._run_packed(torch.lstm, input, hx)
        packed = input._with(output)
        return packed, (_ordered(h, input.unsorted_indices), _ordered(c, input.unsorted_indices))


class RNNCellBase(Module):
    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = Parameter(torch.empty((num_chunks * hidden_size, input_size), dtype=dtype))
        self.weight_hh = Parameter(torch.empty((num_chunks * hidden_size, hidden_size), dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(num_chunks * hidden_size, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(num_chunks * hidden_size, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        autograd_machine.initialise(self, "_parameters")


def _cell(module, operator, input, hx):
    batched = input.dim() == 2
    if not batched:
        input = input.unsqueeze(0)
    if hx is None:
        hx = torch.zeros(input.size(0), module.hidden_size, dtype=input.dtype)
    elif not batched:
        hx = hx.unsqueeze(0)
    h = operator(input, hx, module.weight_ih, module.weight_hh, module.bias_ih, module.bias_hh)
    return h if batched else h.squeeze(0)


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        return _cell(self, torch.rnn_relu_cell if self.nonlinearity == "relu" else torch.rnn_tanh_cell, input, hx)


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return _cell(self, torch.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not batched:
            return h.squeeze(0), c.squeeze(0)
        return h, c
