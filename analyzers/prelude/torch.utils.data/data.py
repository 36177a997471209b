import autograd_machine
import torch


class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple([t[index] for t in self.tensors])

    def __len__(self):
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    def __init__(self, *args, **kwargs):
        self.datasets = kwargs if kwargs else args

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple([d[index] for d in self.datasets])

    def __len__(self):
        return autograd_machine.unknown_int()


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __getitem__(self, index):
        return self.datasets[0][index]

    def __len__(self):
        return autograd_machine.unknown_int()


class ChainDataset(IterableDataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __iter__(self):
        return iter([item for d in self.datasets for item in d])


def random_split(dataset, lengths, generator=None):
    return [Subset(dataset, [autograd_machine.unknown_int()]) for _ in lengths]


def get_worker_info():
    return autograd_machine.unknown()


def default_collate(batch):
    """A batch of samples is collated into tensors: stacked copies of tensors, new tensors from numbers."""
    sample = batch[0]
    if autograd_machine.says_nothing(sample):
        return autograd_machine.presumed_data()
    if isinstance(sample, torch.Tensor):
        return torch.stack(batch, 0)
    if isinstance(sample, (int, float)):
        return torch.tensor(batch)
    if isinstance(sample, str):
        return batch
    if isinstance(sample, dict):
        return {key: default_collate([s[key] for s in batch]) for key in sample}
    if isinstance(sample, (tuple, list)):
        return [default_collate([s[i] for s in batch]) for i in range(len(sample))]
    return torch.as_tensor(sample)


def default_convert(data):
    return data


class Sampler:
    def __init__(self, data_source=None):
        self.data_source = data_source

    def __iter__(self):
        return iter([autograd_machine.unknown_int() for _ in range(autograd_machine.unknown_int())])

    def __len__(self):
        return autograd_machine.unknown_int()


class SequentialSampler(Sampler):
    pass


class RandomSampler(Sampler):
    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)


class SubsetRandomSampler(Sampler):
    def __init__(self, indices, generator=None):
        super().__init__(indices)


class WeightedRandomSampler(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        super().__init__(weights)


class DistributedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        super().__init__(dataset)

    def set_epoch(self, epoch):
        pass


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last):
        super().__init__(sampler)


class DataLoader:
    """Each batch is the same sample repeated and collated. Workers may have created it, so it never shares memory with
    the data set."""

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.drop_last = drop_last
        self.collate_fn = default_collate if collate_fn is None else collate_fn

    def __len__(self):
        return autograd_machine.unknown_int()

    def __iter__(self):
        for _ in range(autograd_machine.unknown_int()):
            yield self._batch()

    def _batch(self):
        dataset = self.dataset
        if autograd_machine.says_nothing(dataset) or isinstance(dataset, IterableDataset):
            return autograd_machine.presumed_data()
        if isinstance(dataset, TensorDataset):
            if self.batch_size is not None and self.collate_fn is default_collate:
                index = torch.empty(autograd_machine.unknown_int(), dtype=torch.int64).zero_()
                return [t[index] for t in dataset.tensors]
        if not isinstance(dataset, Dataset):
            return autograd_machine.presumed_data()
        sample = dataset[autograd_machine.unknown_int()]
        if autograd_machine.surely(self.batch_size is None):
            return sample
        alone = autograd_machine.surely(self.batch_size == 1)
        return self.collate_fn([sample] if alone else autograd_machine.several(sample))
