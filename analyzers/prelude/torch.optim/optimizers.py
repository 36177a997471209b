import autograd_machine
import torch


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        _check_rate(lr)
        _refuse(momentum < 0.0, "Invalid momentum value")
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        if autograd_machine.surely(nesterov):
            _refuse(momentum <= 0, "Nesterov momentum requires a momentum and zero dampening")
            _refuse(dampening != 0, "Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        })

    def _state(self, p, group):
        if group["momentum"] != 0:
            return {"momentum_buffer": torch.empty_like(p, requires_grad=False)}
        return {}


class Adam(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        alone = autograd_machine.surely(foreach) and not capturable
        if autograd_machine.surely(isinstance(lr, torch.Tensor)):
            _refuse(alone, "lr as a Tensor is not supported for capturable=False and foreach=True")
        _check_rate(lr)
        _refuse(eps < 0.0, "Invalid epsilon value")
        _check_betas(betas)
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        tensors = [isinstance(b, torch.Tensor) for b in betas]
        _refuse(tensors[0] != tensors[1], "betas must be either both floats or both Tensors")
        if autograd_machine.surely(tensors[0]):
            _refuse(alone, "betas[0] as a Tensor is not supported for capturable=False and foreach=True")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        })

    def _state(self, p, group):
        state = {"step": _scalar(0.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(p)
        return state


class AdamW(Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)

    def _writes(self, group):
        """Weight decay is a write of its own."""
        return 2 if autograd_machine.surely(group["weight_decay"] != 0) else 1


class Adagrad(Optimizer):
    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        _check_rate(lr)
        _refuse(lr_decay < 0.0, "Invalid lr_decay value")
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        _refuse(initial_accumulator_value < 0.0, "Invalid initial_accumulator_value value")
        _refuse(eps < 0.0, "Invalid epsilon value")
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })
        for group in self.param_groups:
            for p in group["params"]:
                self._stepped[p] = group

    def _state(self, p, group):
        return {"step": _scalar(0.0), "sum": torch.full_like(p, group["initial_accumulator_value"])}


class RMSprop(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        _check_rate(lr)
        _refuse(eps < 0.0, "Invalid epsilon value")
        _refuse(momentum < 0.0, "Invalid momentum value")
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        _refuse(alpha < 0.0, "Invalid alpha value")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        })

    def _state(self, p, group):
        state = {"step": _scalar(0.0), "square_avg": torch.zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = torch.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = torch.zeros_like(p)
        return state


class Adadelta(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        _check_rate(lr)
        _refuse(rho < 0.0, "Invalid rho value")
        _refuse(rho > 1.0, "Invalid rho value")
        _refuse(eps < 0.0, "Invalid epsilon value")
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })

    def _state(self, p, group):
        return {"step": _scalar(0.0), "square_avg": torch.zeros_like(p), "acc_delta": torch.zeros_like(p)}


class Adamax(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *,
                 maximize=False, differentiable=False, capturable=False):
        _check_rate(lr)
        _refuse(eps < 0.0, "Invalid epsilon value")
        _check_betas(betas)
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })

    def _state(self, p, group):
        return {"step": _scalar(0.0), "exp_avg": torch.zeros_like(p), "exp_inf": torch.zeros_like(p)}


class NAdam(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        _check_rate(lr)
        _refuse(eps < 0.0, "Invalid epsilon value")
        _check_betas(betas)
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        _refuse(momentum_decay < 0.0, "Invalid momentum_decay value")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        })

    def _state(self, p, group):
        return {"step": _scalar(0.0), "mu_product": _scalar(1.0), "exp_avg": torch.zeros_like(p),
                "exp_avg_sq": torch.zeros_like(p)}

    def _writes(self, group):
        """One write for the gradient, one for the momentum."""
        return 3 if autograd_machine.surely(group["weight_decay"] != 0 and group["decoupled_weight_decay"]) else 2


class RAdam(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False,
                 *, foreach=None, maximize=False, capturable=False, differentiable=False):
        _check_rate(lr)
        _refuse(eps < 0.0, "Invalid epsilon value")
        _check_betas(betas)
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        })

    def _state(self, p, group):
        return {"step": _scalar(0.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}

    def _writes(self, group):
        return 2 if autograd_machine.surely(group["weight_decay"] != 0 and group["decoupled_weight_decay"]) else 1


class ASGD(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None,
                 maximize=False, differentiable=False, capturable=False):
        _check_rate(lr)
        _refuse(weight_decay < 0.0, "Invalid weight_decay value")
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })

    def _state(self, p, group):
        return {"step": _scalar(0.0), "eta": _scalar(0.0), "mu": _scalar(1.0), "ax": torch.zeros_like(p)}

    def _writes(self, group):
        """It shrinks, and then moves; both at once with `foreach`."""
        return 1 if group["foreach"] else 2


class Rprop(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        _check_rate(lr)
        _refuse(etas[0] <= 0.0, "Invalid eta values")
        _refuse(etas[0] >= 1.0, "Invalid eta values")
        _refuse(etas[1] <= 1.0, "Invalid eta values")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })

    def _state(self, p, group):
        return {"step": _scalar(0.0), "prev": torch.zeros_like(p), "step_size": torch.full_like(p, group["lr"])}


class SparseAdam(Optimizer):
    _takes = "sparse"

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        _check_rate(lr)
        _refuse(lr == 0.0, "Invalid learning rate")
        _refuse(eps <= 0.0, "Invalid epsilon value")
        _check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for group in self.param_groups:
            for p in group["params"]:
                _refuse(p.is_sparse, "Sparse params at indices")
                _refuse(p.is_complex(), "Complex params at indices")

    def _state(self, p, group):
        return {"step": autograd_machine.unknown_int(), "exp_avg": torch.zeros_like(p),
                "exp_avg_sq": torch.zeros_like(p)}


class Adafactor(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        _check_rate(lr, "Learning rate should be >= 0 but is")
        _refuse(beta2_decay > 0.0, "beta2_decay should be <= 0 but is")
        if eps[0] is not None:
            _refuse(eps[0] < 0.0, "epsilon1 should be >= 0 but is")
        _refuse(eps[1] < 0.0, "epsilon2 should be >= 0 but is")
        _refuse(d < 1.0, "Clipping threshold d should be >= 1 but is")
        _refuse(weight_decay < 0.0, "weight_decay should be >= 0 but is")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })

    def _state(self, p, group):
        if p.dim() > 1:
            return {"step": _scalar(0.0), "row_var": torch.zeros_like(p[..., :1]),
                    "col_var": torch.zeros_like(p[..., :1, :])}
        return {"step": _scalar(0.0), "variance": torch.zeros_like(p)}

    def _writes(self, group):
        return 2 if autograd_machine.surely(group["weight_decay"] != 0) else 1


class Muon(Optimizer):
    _takes = "dense"

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        _check_rate(lr, "Learning rate should be >= 0 but is")
        _refuse(momentum < 0.0, "momentum should be >= 0 but is")
        _refuse(weight_decay < 0.0, "weight decay should be >= 0 but is")
        _refuse(adjust_lr_fn not in (None, "original", "match_rms_adamw"), "Adjust learning rate function")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        })
        for group in self.param_groups:
            for p in group["params"]:
                _refuse(p.ndim != 2, "Muon only supports 2D parameters")

    def _state(self, p, group):
        return {"momentum_buffer": torch.zeros_like(p)}

    def _writes(self, group):
        """It shrinks, and then moves."""
        return 2


class LBFGS(Optimizer):
    """The closure runs again after the first step, as it does unless the first gradient is already small."""

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        _check_rate(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        })
        self._moves = 0
        _refuse(len(self.param_groups) != 1, "LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure=None):
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        with torch.enable_grad():
            loss = closure()
        autograd_machine.note_step(self)
        params = self.param_groups[0]["params"]
        if any([p.grad is not None for p in params]):
            self._move(params)
            with torch.enable_grad():
                closure()
            self._move(params)
            self._moves += 1
        if self._shown:
            self.state[params[0]].update(self._state(params[0], self.param_groups[0]))
        else:
            self._stepped[params[0]] = self.param_groups[0]
        return loss

    def _move(self, params):
        """One direction for all parameters: those without a gradient are written too."""
        with torch.no_grad():
            for p in params:
                autograd_machine.write(p)

    def _state(self, p, group):
        """A second direction, along with a list of factors, is computed unless the first step sufficed."""
        count = autograd_machine.unknown_int()
        state = {"func_evals": count, "n_iter": count}
        if self._moves == 0:
            return state
        size = sum([q.numel() for q in group["params"]])
        state.update({"d": torch.empty(size), "t": autograd_machine.unknown(), "old_dirs": [], "old_stps": [], "ro": [],
                      "H_diag": autograd_machine.unknown(), "prev_flat_grad": torch.empty(size),
                      "prev_loss": autograd_machine.unknown_float()})
        if group["max_iter"] > 1 or self._moves > 1:
            state["al"] = [None] * group["history_size"]
        return state
