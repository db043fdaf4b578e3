"""Folders for Hugging Face transformers: loaded by its Auto classes, generated from, away from this project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import constructions
from constructions.api import LoadedModel
from constructions.exports.limits import TRIED, longest_sequence
from constructions.istree.graphs import Graph
from constructions.models.search import END_SEARCH
from constructions.retrieval.task import Question
from tests.exports.conftest import Ask, snippet
from tests.exports.held_out import FEW, MANY, HeldOutCase, asked, case_of, entries

pytest.importorskip("transformers", reason="transformers is not installed: `make export-test` does")

RUN = """
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
torch.set_grad_enabled(False)
answer = []
for folder, asked in given:
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    found, said = [], []
    for case in asked:
        ids = tokenizer(case["text"], return_tensors="pt")
        assert ids.input_ids.tolist() == [list(case["tokens"])]
        found.append(model(**ids).logits.argmax(-1)[0].tolist())
        if case["prompt"]:
            prompt = tokenizer(case["prompt"], return_tensors="pt")
            said.append(tokenizer.decode(model.generate(**prompt)[0]))
    longest = model.config.max_position_embeddings
    try:
        model(torch.zeros(1, longest + 1, dtype=torch.int64))
    except ValueError as error:
        refused = str(error)
    answer.append({"found": found, "said": said, "dtype": str(model.dtype), "refused": refused})
"""
GENERATED = 2  # of each model, from the prompt on
LOAD = """
import shutil
import warnings
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, StaticCache
torch.set_grad_enabled(False)
torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained("folder", trust_remote_code=True)
tokenizer = AutoTokenizer.from_pretrained("folder")
"""
# Two batches whose rows have all lengths, the second with a row that is full and one that is one token. What is compared is alone.
PADDED = """
every = dict(output_attentions=True, output_hidden_states=True)
for side in ("left", "right"):
    tokenizer.padding_side = side
    batch = tokenizer(given, return_tensors="pt", padding=True)
    assert batch.attention_mask.sum() < batch.attention_mask.numel()
    for asked in (batch, {"input_ids": batch.input_ids}):
        together = model(**asked, **every)
        for row, (text, mask) in enumerate(zip(given, batch.attention_mask.bool(), strict=True)):
            alone = model(**tokenizer(text, return_tensors="pt"), **every)
            assert torch.equal(together.logits[row][mask], alone.logits[0])
            assert not together.logits[row][~mask].any()
            assert len(together.hidden_states) == len(alone.hidden_states) == len(model.config.heads) + 1
            for a, b in zip(together.hidden_states, alone.hidden_states, strict=True):
                assert torch.equal(a[row][mask], b[0])
            for a, b, names in zip(together.attentions, alone.attentions, model.config.heads, strict=True):
                assert a.shape[1] == len(names)
                assert torch.equal(a[row][:, mask][:, :, mask], b[0])
                assert torch.allclose(a[row].sum(-1), mask.to(a.dtype).expand(len(names), -1))
answer = len(model(**batch, return_dict=False))
"""
# A text read in pieces of one, two and more tokens, each row with its own padding, against the same text at once.
CACHED = """
tokenizer.padding_side = "left"
batch = tokenizer(given, return_tensors="pt", padding=True)
whole = model(**batch, output_attentions=True)
cache, place, found, width = DynamicCache(), 0, [], batch.input_ids.shape[1]
assert batch.attention_mask[:, :2].sum() == 2  # two rows of three begin with padding alone
for step in (2, 1, 2, 1, 3, width):
    ids = batch.input_ids[:, place : place + step]
    if not ids.shape[1]:
        break
    part = model(ids, attention_mask=batch.attention_mask[:, : place + step], past_key_values=cache, output_attentions=True)
    assert part.past_key_values is cache
    for a, b in zip(part.attentions, whole.attentions, strict=True):
        assert torch.allclose(a, b[:, :, place : place + ids.shape[1], : place + ids.shape[1]], atol=1e-9)
    found.append(part.logits)
    place += step
assert cache.get_seq_length() == width
assert torch.cat(found, 1).argmax(-1).tolist() == whole.logits.argmax(-1).tolist()
answer = torch.allclose(torch.cat(found, 1), whole.logits)
"""
GENERATE = """
prompts, ways = given
batch = tokenizer(prompts, return_tensors="pt", padding=True)
def said(**how):
    return tokenizer.batch_decode(model.generate(**{**batch, **how}), skip_special_tokens=True)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    answer = [said(**how) for how in ways]
shown = model.generate(**batch, return_dict_in_generate=True, output_attentions=True, output_hidden_states=True)
assert len(shown.attentions) == len(shown.hidden_states) == shown.sequences.shape[1] - batch.input_ids.shape[1]
model.save_pretrained("again")
tokenizer.save_pretrained("again")
shutil.move("folder", "gone")
model = AutoModelForCausalLM.from_pretrained("again", trust_remote_code=True)
tokenizer = AutoTokenizer.from_pretrained("again")
answer.append(said())
shutil.move("gone", "folder")
"""
LIBRARY = """
from transformers import pipeline
torch.set_grad_enabled(True)
prompts, answers = given
pipe = pipeline("text-generation", model=model, tokenizer=tokenizer)
answer = {"pipeline": [pipe(prompt)[0]["generated_text"] for prompt in prompts]}
answer["batch"] = [found[0]["generated_text"] for found in pipe(prompts, batch_size=2)]
answer["new"] = [pipe(prompt, return_full_text=False)[0]["generated_text"] for prompt in prompts]
batch = tokenizer(answers, return_tensors="pt", padding=True)
ids, mask = batch.input_ids, batch.attention_mask
whole = model(**batch)
answer["decoded"] = tokenizer.batch_decode(ids, skip_special_tokens=True)
part = model(**batch, logits_to_keep=2).logits
answer["kept"] = torch.equal(part, whole.logits[:, -2:]) and torch.equal(
    model(**batch, logits_to_keep=torch.tensor([0, 3])).logits, whole.logits[:, [0, 3]])
answer["positions"] = torch.equal(model(**batch, position_ids=(mask.cumsum(1) - 1).clamp(min=0)).logits, whole.logits)
one = tokenizer(answers[0], return_tensors="pt")
rows = model.get_input_embeddings()(one.input_ids)
answer["embeds"] = torch.equal(model(inputs_embeds=rows).logits, model(**one).logits)
answer["tied"] = model.get_output_embeddings().weight is model.network.unembed
labels = one.input_ids.clone()
labels[:, :3] = -100
found = model(**one, labels=labels)
scores = found.logits[0, :-1].log_softmax(-1)
due = [(k, t) for k, t in enumerate(labels[0, 1:].tolist()) if t >= 0]
mean = -sum(scores[k, t] for k, t in due) / len(due)
found.loss.backward()
answer["loss"] = bool(torch.isclose(found.loss, mean)) and all(p.grad is not None for p in model.parameters())
try:
    from transformers import Trainer, TrainingArguments
    import accelerate
except ImportError:
    answer["trained"] = [text[len(prompt):] for prompt, text in zip(prompts, answers, strict=True)]
else:
    data = [{"input_ids": one.input_ids[0], "attention_mask": one.attention_mask[0], "labels": labels[0]}]
    how = TrainingArguments(output_dir="trained", max_steps=1, learning_rate=0.0, report_to=[], use_cpu=True, disable_tqdm=True)
    Trainer(model=model, args=how, train_dataset=data).train()
    answer["trained"] = [pipe(prompt, return_full_text=False)[0]["generated_text"] for prompt in prompts]
"""
# Whole chains of thought, by `generate`, by a pipeline in one batch, and after a step of Trainer whose rate is 0.
WHOLE = """
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, pipeline
torch.set_num_threads(1)
answer = []
for folder, prompts in given:
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    pipe = pipeline("text-generation", model=model, tokenizer=tokenizer)
    batch = tokenizer(prompts, return_tensors="pt", padding=True)
    said = {"generate": tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True)}
    said["pipeline"] = [row[0]["generated_text"] for row in pipe(prompts, batch_size=len(prompts))]
    ids = tokenizer(prompts[0], return_tensors="pt").input_ids[0]
    how = TrainingArguments(output_dir="trained", max_steps=1, learning_rate=0.0, report_to=[], use_cpu=True, disable_tqdm=True)
    Trainer(model=model, args=how, train_dataset=[{"input_ids": ids, "labels": ids}]).train()
    model.eval()
    said["Trainer"] = tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True)
    answer.append(said)
"""
BAD = """
prompt = tokenizer(given, return_tensors="pt")
ids, answer, pad = prompt.input_ids, {}, tokenizer.pad_token_id
longest = model.config.max_position_embeddings
def refused(name, ask):
    try:
        answer[name] = f"not refused: {ask()}"
    except Exception as error:
        answer[name] = f"{type(error).__name__}: {error}"
refused("long", lambda: model(torch.zeros(1, longest + 1, dtype=torch.int64)))
refused("empty batch", lambda: model(ids[:0]))
refused("no tokens", lambda: model.generate(ids[:, :0]))
refused("nothing", lambda: model.generate())
refused("one row", lambda: model(ids[0]))
refused("bool", lambda: model(ids.bool()))
refused("negative", lambda: model(-ids))
refused("beyond", lambda: model(ids + 9))
refused("padding alone", lambda: model(torch.full((1, 3), pad)))
refused("on the right", lambda: model.generate(torch.cat([ids, ids[:, :1] * 0 + pad], 1)))
refused("mask", lambda: model(ids, attention_mask=torch.ones(1, 3)))
refused("labels", lambda: model(ids, labels=ids[:, 1:]))
refused("positions", lambda: model(ids, position_ids=torch.ones_like(ids)))
refused("nothing to read", lambda: model())
refused("both", lambda: model(ids, inputs_embeds=model.get_input_embeddings()(ids)))
refused("rows", lambda: model(inputs_embeds=torch.zeros(1, 3, 2)))
refused("unknown", lambda: tokenizer("<s> 77"))
refused("unequal", lambda: tokenizer([given, "<s>"], return_tensors="pt"))
refused("static", lambda: model.generate(**prompt, cache_implementation="static"))
refused("other batch", lambda: model(torch.cat([ids, ids]), past_key_values=model(ids, use_cache=True).past_key_values))
refused("float32", lambda: AutoModelForCausalLM.from_pretrained("folder", trust_remote_code=True, dtype="float32")(ids))
answer["int32"] = torch.equal(model(ids.int()).logits, model(ids).logits)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model.generate(**tokenizer("<s> 1 ~ 2 2 ~ 1", return_tensors="pt"))
answer["no graph"] = [str(item.message) for item in said]
"""


def question(loaded: LoadedModel, case: HeldOutCase, prompted: bool) -> dict[str, Any]:
    prompt = case.tokens[: min(case.written) + 1] if prompted else ()
    text, words = (" ".join(loaded.wired.spelled(tokens)) for tokens in (case.tokens, prompt))
    return {"text": text, "tokens": case.tokens, "prompt": words}


def would_end(config: dict[str, Any], case: HeldOutCase) -> bool:
    """Whether `generate`, if it writes these tokens, ends after the last of them, and not before."""
    *others, last = case.written.values()
    stop, left = set(config.get("eos_token_id", [])), config["max_new_tokens"] - len(case.written)
    return stop.isdisjoint(others) and (left == 0 or (left > 0 and last in stop))


def hold_the_table(name: str, model: str, variant: str, float_name: str, count: int, ask: Ask, path: Path) -> None:
    models = asked(name, model, variant, TRIED[name, model, variant][float_name].n, count)
    given: list[tuple[str, list[dict[str, Any]]]] = []
    for i, (loaded, cases) in enumerate(models):
        folder = path / f"model{i}"
        assert loaded.export("hf", folder, float_name=float_name) == (folder,)
        given.append((str(folder), [question(loaded, case, j < GENERATED) for j, case in enumerate(cases)]))
        config = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
        assert model == "rag" or all(would_end(config, case) for case in cases)
    for (folder, _), (loaded, cases), answer in zip(given, models, ask("transformers", RUN, path, given), strict=True):
        assert all(case.agrees(actual) for case, actual in zip(cases, answer["found"], strict=True))
        assert answer["dtype"] == f"torch.{float_name}"
        longest = longest_sequence(loaded.wired, model, float_name)
        assert answer["refused"].startswith(f"{longest + 1} tokens; these weights, for ")
        assert answer["refused"].endswith(f" = {loaded.n}, were tried on {longest} at most")
        for case, said in zip(cases, answer["said"], strict=False):
            last = case.written[len(case.tokens) - 1]
            words, place = list(loaded.wired.spelled([*case.tokens, last])), min(case.written) + 1
            if model == "rag":  # it waits for what its search finds
                words = words[: words.index(END_SEARCH, place) + 1]
            assert said == " ".join(words)
        sidecar = json.loads((Path(folder) / "sidecar.json").read_text(encoding="utf-8"))
        assert sidecar["export"]["float"] == float_name


def test_the_page_generates(ask: Ask, tmp_path: Path) -> None:
    loaded = constructions.load("istree", n=4)
    loaded.export("hf", tmp_path / "folder")
    code = snippet("AutoModelForCausalLM") + snippet("output_attentions=True") + "answer = said, father.tolist()"
    said, father = ask("transformers", code, tmp_path)
    assert said.endswith(" 1 2 3 4 3 2 1 YES")
    result = loaded.run([(1, 2), (2, 3), (3, 4)])
    size = len(result.attention(6, "father"))
    assert np.array(father)[:size, :size] == pytest.approx(result.attention(6, "father"), abs=1e-9)


def test_a_folder_writes_a_few_times_what_reference_writes(ask: Ask, tmp_path: Path) -> None:
    hold_the_table("recall", "hybrid", "repaired", "float32", FEW, ask, tmp_path)
    assert (
        len({file.stat().st_mode for file in (tmp_path / "model0").iterdir()}) == 1
    )  # whoever may read one may read all


@pytest.fixture(
    params=[("istree", "transformer", 4, "float64"), ("istree", "hybrid", 3, "float32"), ("index", "rag", 5, "float64")]
)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[str], list[str]]:
    """Where a folder is; prompts of several lengths, and what the model writes of them: to the end, or up to a search."""
    name, model, n, float_name = request.param
    loaded = constructions.load(name, model, n=n)
    loaded.export("hf", tmp_path / "folder", float_name=float_name)
    given: list[Any] = [Question(sequence, (1,)) for sequence in ((3, 1), (5, 4, 3, 2, 1), (2,))]
    if name == "istree":
        edges = ((1, 2), (2, 3), (n, 3)) if n > 3 else ((1, 2), (3, 2))
        given = [Graph(n, some) for some in (edges, edges[:1], ((1, 2), (2, 3), (1, 3)))]
    prompts, answers = [], []
    for item in given:
        case = case_of(loaded, item, "reference")
        asked = min(case.written) + 1
        words = list(loaded.wired.spelled([*case.tokens, case.written[len(case.tokens) - 1]]))
        end = words.index(END_SEARCH, asked) + 1 if model == "rag" else len(words)
        prompts.append(" ".join(words[:asked]))
        answers.append(" ".join(words[:end]))
    return tmp_path, prompts, answers


def test_a_padded_row_gives_the_bits_that_it_gives_alone(folder: tuple[Path, list[str], list[str]], ask: Ask) -> None:
    path, prompts, answers = folder
    assert (
        ask("transformers", LOAD + PADDED, path, [*answers, prompts[0], prompts[0].split()[0]]) == 1
    )  # the logits alone


def test_a_cache_changes_no_token(folder: tuple[Path, list[str], list[str]], ask: Ask) -> None:
    path, _, answers = folder
    assert ask("transformers", LOAD + CACHED, path, answers)


def test_batches_are_generated(folder: tuple[Path, list[str], list[str]], ask: Ask) -> None:
    """With and without cache, mask and beams, and from a copy that was saved, without the folder that it was loaded from."""
    path, prompts, answers = folder
    ways: list[dict[str, Any]] = [{}, {"use_cache": False}]
    if max(map(len, answers)) < 100:  # a beam that is not the best one may go on beyond the longest sequence
        ways += [{"attention_mask": None}, {"num_beams": 2}, {"prefill_chunk_size": 5}]
    assert ask("transformers", LOAD + GENERATE, path, (prompts, ways)) == [answers] * (len(ways) + 1)


def test_what_the_library_calls(folder: tuple[Path, list[str], list[str]], ask: Ask) -> None:
    """Pipelines glued the answer to the prompt, and labels, embeddings and positions were no arguments."""
    path, prompts, answers = folder
    answer = ask("transformers", LOAD + LIBRARY, path, (prompts, answers))
    added = [text.removeprefix(prompt) for prompt, text in zip(prompts, answers, strict=True)]
    assert answer.pop("pipeline") == answer.pop("batch") == answer.pop("decoded") == answers
    assert answer.pop("new") == answer.pop("trained") == added
    assert answer == dict.fromkeys(("kept", "positions", "embeds", "tied", "loss"), True)


def test_what_cannot_be_read_is_said(ask: Ask, tmp_path: Path) -> None:
    constructions.load("istree", n=4).export("hf", tmp_path / "folder")
    answer = ask("transformers", LOAD + BAD, tmp_path, "<s> 1 ~ 2 2 ~ 3 3 ~ 4")
    (warning,) = answer.pop("no graph")
    assert warning.startswith("row 0 is no prompt of this model. A prompt is <s>, then u ~ v for each edge")
    shape = "ValueError: input_ids must be (batch, length), both at least 1, not "
    assert answer == {
        "long": "ValueError: 30 tokens; these weights, for n = 4, were tried on 29 at most",
        "empty batch": shape + "(0, 10)",
        "no tokens": shape + "(1, 0)",
        "nothing": "ValueError: generate needs a prompt: input_ids",
        "one row": shape + "(10,)",
        "bool": "ValueError: input_ids must be int64 or int32, not bool",
        "negative": "ValueError: -4 is no token number: they go from 0 to 9",
        "beyond": "ValueError: 13 is no token number: they go from 0 to 9",
        "padding alone": "ValueError: a row of the batch has no token",
        "on the right": "ValueError: padding must stand on the left: what is generated follows the last token",
        "mask": "ValueError: attention_mask is (1, 3), and input_ids are (1, 10)",
        "labels": "ValueError: labels are (1, 9), and the tokens (1, 10)",
        "positions": "ValueError: position_ids must count the tokens of each row from 0; positions are fixed here",
        "nothing to read": "ValueError: give input_ids or inputs_embeds, one of them",
        "both": "ValueError: give input_ids or inputs_embeds, one of them",
        "rows": "ValueError: inputs_embeds must be (batch, length, 54), not (1, 3, 2)",
        "unknown": "Exception: WordLevel error: Missing [UNK] token from the vocabulary",
        "unequal": answer["unequal"],
        "static": "ValueError: past_key_values must be a DynamicCache, not a StaticCache",
        "other batch": "ValueError: past_key_values has 1 rows, and input_ids 2",
        "float32": "ValueError: the weights are in float32 now; they were tried in float64",
        "int32": True,
    }
    assert answer["unequal"].startswith("ValueError: Unable to create tensor")


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), entries())
def test_a_folder_writes_what_reference_writes(
    name: str, model: str, variant: str, float_name: str, ask: Ask, tmp_path: Path
) -> None:
    hold_the_table(name, model, variant, float_name, MANY, ask, tmp_path)


@pytest.mark.exports
@pytest.mark.parametrize(
    ("name", "model", "n"),
    [
        ("index", "hybrid", 9),
        ("recall", "transformer", 9),
        ("counting", "hybrid", 9),
        ("istree", "transformer", 5),
        ("istree", "hybrid", 4),
        ("turing", "hybrid", 12),
    ],
)
def test_generate_a_pipeline_and_trainer_write_whole_chains(
    name: str, model: str, n: int, ask: Ask, tmp_path: Path
) -> None:
    pytest.importorskip("accelerate", reason="accelerate, which Trainer needs, is not installed")
    given, wanted = [], []
    for i, (loaded, cases) in enumerate(asked(name, model, "repaired", n, MANY)):
        loaded.export("hf", tmp_path / f"model{i}")
        ends = [min(case.written) + 1 for case in cases]
        words = [list(loaded.wired.spelled([*case.tokens, case.written[len(case.tokens) - 1]])) for case in cases]
        given.append((str(tmp_path / f"model{i}"), [" ".join(of[:end]) for of, end in zip(words, ends, strict=True)]))
        wanted.append([" ".join(of) for of in words])
    assert sum(map(len, wanted)) == MANY
    for said, texts in zip(ask("transformers", WHOLE, tmp_path, given), wanted, strict=True):
        assert said == dict.fromkeys(("generate", "pipeline", "Trainer"), texts)
