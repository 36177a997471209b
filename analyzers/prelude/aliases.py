"""Dotted names that mean another."""

ALIASES: dict[str, str] = {
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.parameter.Buffer": "torch.nn.Buffer",
    "torch.nn.DataParallel": "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.parallel.DataParallel",
    "torch.nn.utils.clip_grad.clip_grad_norm_": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_": "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.convert_parameters.parameters_to_vector": "torch.nn.utils.parameters_to_vector",
    "torch.nn.utils.convert_parameters.vector_to_parameters": "torch.nn.utils.vector_to_parameters",
    "torch.optim.optimizer.Optimizer": "torch.optim.Optimizer",
    "torch.optim.sgd.SGD": "torch.optim.SGD",
    "torch.optim.adam.Adam": "torch.optim.Adam",
    "torch.optim.adamw.AdamW": "torch.optim.AdamW",
    "torch.optim.rmsprop.RMSprop": "torch.optim.RMSprop",
    "torch.optim.adagrad.Adagrad": "torch.optim.Adagrad",
    "torch.optim.adadelta.Adadelta": "torch.optim.Adadelta",
    "torch.optim.adamax.Adamax": "torch.optim.Adamax",
    "torch.optim.nadam.NAdam": "torch.optim.NAdam",
    "torch.optim.radam.RAdam": "torch.optim.RAdam",
    "torch.optim.asgd.ASGD": "torch.optim.ASGD",
    "torch.optim.rprop.Rprop": "torch.optim.Rprop",
    "torch.optim.lbfgs.LBFGS": "torch.optim.LBFGS",
    "torch.optim.lr_scheduler._LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
    "torch.cuda.amp.GradScaler": "torch.amp.GradScaler",
    "torch.cuda.amp.autocast": "torch.amp.autocast",
    "torch.cpu.amp.GradScaler": "torch.amp.GradScaler",
    "torch.cpu.amp.autocast": "torch.amp.autocast",
    "torch.cuda.amp.custom_fwd": "torch.amp.custom_fwd",
    "torch.cuda.amp.custom_bwd": "torch.amp.custom_bwd",
    "torch.amp.grad_scaler.GradScaler": "torch.amp.GradScaler",
    "torch.amp.autocast_mode.autocast": "torch.amp.autocast",
    "torch.autocast": "torch.amp.autocast",
    "torch.vmap": "torch.func.vmap",
    "functorch.grad": "torch.func.grad",
    "functorch.vmap": "torch.func.vmap",
    "functorch.jacrev": "torch.func.jacrev",
    "functorch.jacfwd": "torch.func.jacfwd",
    "functorch.hessian": "torch.func.hessian",
    "functorch.vjp": "torch.func.vjp",
    "functorch.jvp": "torch.func.jvp",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.IterableDataset": "torch.utils.data.IterableDataset",
    "torch.utils.data.dataset.TensorDataset": "torch.utils.data.TensorDataset",
    "torch.utils.data.dataset.Subset": "torch.utils.data.Subset",
    "torch.utils.data.dataset.ConcatDataset": "torch.utils.data.ConcatDataset",
    "torch.utils.data.dataset.random_split": "torch.utils.data.random_split",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataloader.default_collate": "torch.utils.data.default_collate",
    "torch.utils.data._utils.collate.default_collate": "torch.utils.data.default_collate",
    "torch.utils.data.distributed.DistributedSampler": "torch.utils.data.DistributedSampler",
    "torch.utils.data.sampler.Sampler": "torch.utils.data.Sampler",
    "torch.utils.data.sampler.RandomSampler": "torch.utils.data.RandomSampler",
    "torch.utils.data.sampler.BatchSampler": "torch.utils.data.BatchSampler",
    "torch.utils.data.sampler.SequentialSampler": "torch.utils.data.SequentialSampler",
    "torch.utils.data.sampler.SubsetRandomSampler": "torch.utils.data.SubsetRandomSampler",
    "torch.utils.data.sampler.WeightedRandomSampler": "torch.utils.data.WeightedRandomSampler",
    "torch.distributions.normal.Normal": "torch.distributions.Normal",
    "torch.distributions.categorical.Categorical": "torch.distributions.Categorical",
    "torch.distributions.bernoulli.Bernoulli": "torch.distributions.Bernoulli",
    "torch.distributions.beta.Beta": "torch.distributions.Beta",
    "torch.distributions.gamma.Gamma": "torch.distributions.Gamma",
    "torch.distributions.dirichlet.Dirichlet": "torch.distributions.Dirichlet",
    "torch.distributions.uniform.Uniform": "torch.distributions.Uniform",
    "torch.distributions.independent.Independent": "torch.distributions.Independent",
    "torch.distributions.multivariate_normal.MultivariateNormal": "torch.distributions.MultivariateNormal",
    "torch.distributions.laplace.Laplace": "torch.distributions.Laplace",
    "torch.distributions.distribution.Distribution": "torch.distributions.Distribution",
    "torch.distributions.transformed_distribution.TransformedDistribution": "torch.distributions.TransformedDistribution",
    "torch.distributions.log_normal.LogNormal": "torch.distributions.LogNormal",
    "torch.distributions.exponential.Exponential": "torch.distributions.Exponential",
    "torch.distributions.poisson.Poisson": "torch.distributions.Poisson",
}

for _module, _names in {
    "torch.nn.modules": "Module Linear Conv1d Conv2d Conv3d Sequential ModuleList ModuleDict BatchNorm1d BatchNorm2d "
    "LayerNorm GroupNorm Embedding LSTM GRU RNN Dropout ReLU MultiheadAttention CrossEntropyLoss MSELoss",
    "torch.nn.modules.loss": "_Loss _WeightedLoss CrossEntropyLoss MSELoss L1Loss BCELoss BCEWithLogitsLoss",
    "torch.nn.modules.batchnorm": "_BatchNorm BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "torch.nn.modules.conv": "_ConvNd Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "torch.nn.modules.container": "Sequential ModuleList ModuleDict ParameterList ParameterDict",
    "torch.nn.modules.linear": "Linear Bilinear Identity",
    "torch.nn.modules.activation": "ReLU GELU SiLU Sigmoid Tanh LeakyReLU MultiheadAttention",
    "torch.nn.modules.dropout": "_DropoutNd Dropout Dropout1d Dropout2d Dropout3d",
    "torch.nn.modules.normalization": "LayerNorm GroupNorm RMSNorm",
    "torch.nn.modules.rnn": "RNNBase RNN LSTM GRU RNNCell LSTMCell GRUCell",
    "torch.nn.modules.transformer": "Transformer TransformerEncoder TransformerEncoderLayer TransformerDecoder "
    "TransformerDecoderLayer",
}.items():
    for _name in _names.split():
        ALIASES[f"{_module}.{_name}"] = f"torch.nn.{_name}"
for _name in (
    "Transform ComposeTransform ExpTransform AffineTransform SigmoidTransform TanhTransform SoftplusTransform "
    "PowerTransform AbsTransform SoftmaxTransform".split()
):
    ALIASES[f"torch.distributions.transforms.{_name}"] = f"torch.distributions.{_name}"
for _name in ("kl_divergence", "register_kl"):
    ALIASES[f"torch.distributions.kl.{_name}"] = f"torch.distributions.{_name}"
for _name in "einsum norm cdist meshgrid broadcast_tensors tensordot unique stft".split():
    ALIASES[f"torch.functional.{_name}"] = f"torch.{_name}"
