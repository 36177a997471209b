import autograd_machine


def get_peft_model(model, peft_config, *args, **kwargs):
    return autograd_machine.add_adapters(model)


class PeftModel:
    """A model with adapters. Those that are loaded are frozen, as the model is, unless they are to be trained."""

    @classmethod
    def from_pretrained(cls, model, model_id, adapter_name="default", is_trainable=False, *args, **kwargs):
        loaded = autograd_machine.with_adapters(model)
        if not is_trainable:
            loaded.requires_grad_(False)
        return loaded


class PeftModelForCausalLM(PeftModel):
    pass


class PeftModelForSeq2SeqLM(PeftModel):
    pass


class PeftModelForSequenceClassification(PeftModel):
    pass


class PeftModelForTokenClassification(PeftModel):
    pass


class PeftModelForQuestionAnswering(PeftModel):
    pass


class PeftModelForFeatureExtraction(PeftModel):
    pass
