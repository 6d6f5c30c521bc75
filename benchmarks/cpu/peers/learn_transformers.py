"""A Transformer of the library transformers learns to translate number words: `Seq2SeqTrainer` on lists of numbers."""

from pathlib import Path
from typing import Any

import torch
from taking_turns import StepClock, Turns
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
)

MOST_LETTERS = 80
PAD, UNKNOWN, START, END = "<pad>", "<unk>", "<s>", "</s>"


def letters(folder: Path) -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are letters."""
    seen = sorted(set((folder / "train.de").read_text() + (folder / "train.en").read_text()) - {"\n"})
    tokenizer = Tokenizer(
        models.WordLevel({one: at for at, one in enumerate([PAD, UNKNOWN, START, END, *seen])}, UNKNOWN)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$0 {END}", special_tokens=[(END, 3)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PAD, unk_token=UNKNOWN, bos_token=START, eos_token=END
    )


def bart(task: dict[str, Any], vocabulary: int) -> BartForConditionalGeneration:
    """An encoder–decoder of the sizes of ours; where quality is compared, all else as the library has it."""
    size, layers, heads = task["width"], task["layers"], task["heads"]
    alike = {"dropout": 0.0, "activation_function": "relu"} if "chunk" in task else {}
    config = BartConfig(
        vocab_size=vocabulary, d_model=size, encoder_layers=layers, decoder_layers=layers,
        encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * size,
        decoder_ffn_dim=4 * size, max_position_embeddings=160, pad_token_id=0, bos_token_id=2, eos_token_id=3,
        decoder_start_token_id=2, forced_eos_token_id=None, **alike,
    )  # fmt: skip
    return BartForConditionalGeneration(config)


class Watch(TrainerCallback):
    """Tells the clock of each step."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock

    def on_step_end(self, *arguments: object, **named: object) -> None:
        """After the optimizer."""
        self.clock.step()


def main() -> None:
    turns = Turns()
    task = turns.task
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = Path(task["folder"])
    tokenizer = letters(folder)
    pairs = zip(*((folder / f"train.{side}").read_text().splitlines() for side in ("de", "en")), strict=True)
    rows = [dict(tokenizer(source, text_target=target)) for source, target in pairs]
    model = bart(task, len(tokenizer))

    def exact() -> float:
        """The share that greedy search translates exactly."""
        sources, targets = zip(*task["judged"], strict=True)
        model.eval()
        with torch.no_grad():
            written = model.generate(
                **tokenizer(list(sources), padding=True, return_tensors="pt", return_token_type_ids=False),
                num_beams=1, do_sample=False, max_new_tokens=MOST_LETTERS,
            )  # fmt: skip
        nn.Module.train(model)
        texts = tokenizer.batch_decode(written, skip_special_tokens=True)
        return sum(one == target for one, target in zip(texts, targets, strict=True)) / len(texts)

    chosen: dict[str, Any] = {"learning_rate": 1e-3, "per_device_train_batch_size": 64} if "chunk" in task else {}
    arguments = Seq2SeqTrainingArguments(
        "bart", use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True, logging_strategy="no", **chosen
    )
    clock = StepClock(turns, judge=exact if "judged" in task else None)
    trainer = Seq2SeqTrainer(
        model, arguments, train_dataset=rows, data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        callbacks=[Watch(clock)],
    )  # fmt: skip
    trainer.train()


if __name__ == "__main__":
    main()
