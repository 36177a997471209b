import autograd_machine
import torch


class PackedSequence:
    """A tuple of four; `_batch` is the number of sequences."""

    def __init__(self, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        self.data = data
        self.batch_sizes = batch_sizes
        self.sorted_indices = sorted_indices
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        self.unsorted_indices = unsorted_indices
        self._batch = None if batch_sizes is None else batch_sizes[0]

    def __iter__(self):
        return iter((self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices))

    def __getitem__(self, index):
        return (self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)[index]

    def _with(self, data):
        """The same sequences with different elements."""
        made = PackedSequence(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)
        made._batch = self._batch
        return made

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._with(data)

    def cuda(self, *args, **kwargs):
        return self

    def cpu(self):
        return self

    def double(self):
        return self.to(dtype=torch.double)

    def float(self):
        return self.to(dtype=torch.float)

    def half(self):
        return self.to(dtype=torch.half)

    def long(self):
        return self.to(dtype=torch.long)

    def int(self):
        return self.to(dtype=torch.int)


def invert_permutation(permutation):
    if permutation is None:
        return None
    return torch.empty_like(permutation).scatter_(0, permutation, torch.arange(0, permutation.numel()))


def _check_lengths(lengths, enforce_sorted):
    for before, after in zip(lengths, lengths[1:]):
        if enforce_sorted and before < after:
            raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True")
    if any([length <= 0 for length in lengths]):
        raise RuntimeError("Length of all samples has to be greater than 0")


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    known = isinstance(lengths, (list, tuple)) and autograd_machine.known(*lengths)
    given = lengths
    lengths = torch.as_tensor(lengths, dtype=torch.int64)
    order = None
    batch_dim = 0 if batch_first else 1
    if known:
        _check_lengths(given, enforce_sorted)
    if not enforce_sorted:
        lengths, order = torch.sort(lengths, descending=True)
        input = input.index_select(batch_dim, order)
    data, batch_sizes = torch._VF._pack_padded_sequence(input, lengths, batch_first)
    if known:
        autograd_machine.sized(data, sum(given), *input.size()[2:])
        autograd_machine.sized(batch_sizes, max(given))
    packed = PackedSequence(data, batch_sizes, order)
    packed._batch = input.size(batch_dim)
    return packed


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    longest = sequence.batch_sizes.size(0)
    if total_length is not None:
        if autograd_machine.surely(total_length < longest):
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input")
        longest = total_length
    padded, lengths = torch._VF._pad_packed_sequence(sequence.data, sequence.batch_sizes, False, padding_value, longest)
    autograd_machine.sized(padded, longest, sequence._batch, *sequence.data.size()[1:])
    autograd_machine.sized(lengths, sequence._batch)
    if batch_first:
        padded = padded.transpose(0, 1)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    return torch._C._nn.pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """Transposed in place if time is the first dimension."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    steps = torch.arange(padded_sequences.shape[1])
    return [sequence[steps < length] for sequence, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [v.size(0) for v in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
