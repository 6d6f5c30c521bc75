"""`run.py`, the runner of an exported folder: about twenty lines that need numpy and onnxruntime alone.

It is a text for people to copy. Nothing in atento executes it.
"""

from atento.exporting.folder import Json

HEAD = '''"""{title}: run it as  python run.py {usage}"""
import json, sys
from pathlib import Path
import numpy as np, onnxruntime
{imports}
here = Path(__file__).parent
saved = json.loads((here / "vocabulary.json").read_text(encoding="utf-8"))
export = json.loads((here / "export.json").read_text(encoding="utf-8"))
graphs = {{name: onnxruntime.InferenceSession(here / one["file"]) for name, one in export["graphs"].items()}}

def run(name, **given):  # named arrays in, named arrays out
    wanted = {{one.name: given[one.name] for one in graphs[name].get_inputs()}}
    return dict(zip([one.name for one in graphs[name].get_outputs()], graphs[name].run(None, wanted)))

'''
SPECIAL = 'SPECIAL = ["<pad>", "<unknown>", "<start>", "<end>"]\n'
LISTED = {  # a vocabulary that is a list of tokens
    "char": "def cut(text): return list(text)\n",
    "word": r"""def cut(text):  # words and signs; a joiner where a sign touches its neighbour
    def sign(one):
        left = one.start() > 0 and not text[one.start() - 1].isspace()
        return " " + "￭" * left + one[0] + "￭" * bool(re.match(r"\w", text[one.end():])) + " "
    return re.sub(r"[^\w\s]", sign, text).split()
""",
}
SENTENCES = r"""parts = re.split(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+", " ".join(sys.argv[1:]).strip())
tokens = [token for part in parts for token in (*encode(part), 3)][:-1]  # an end token between sentences
"""


def runner_of(facts: Json, codec: Json) -> str:
    """The program for one exported model."""
    body, usage, imports = body_of(facts, codec)
    title = f"{facts['model']}, {facts['task']}"
    needed = "".join(f"{line}\n" for line in imports).rstrip("\n")
    text = HEAD.format(title=title, usage=usage, imports=needed)
    return text.replace("\n\nhere", "\nhere") + body


def body_of(facts: Json, codec: Json) -> tuple[str, str, list[str]]:
    """The lines after the head, what is typed after the name, and further imports."""
    kind, output = facts["input"], facts["output"]
    if output == "forecast":
        return FORECAST, "values.csv", []
    if output == "window":
        return WINDOW, "values.csv", []
    if output == "neighbours":
        return NEIGHBOURS, "WORD", []
    if output == "completion":
        tokens, imports = encoder_of(codec["vocabulary"], "text")
        return tokens + (COMPLETION if "first" in facts["graphs"] else MASKED), "TEXT", imports
    lines, usage, imports = source_of(kind, codec["input"], writes=output == "text")
    return lines + ANSWERS[output], usage, imports


def encoder_of(vocabulary: Json, name: str, *, lower: bool = False) -> tuple[str, list[str]]:
    """Lines that define `encode(text)`, and the imports they need."""
    level, small = vocabulary.get("level"), ".lower()" if lower else ""
    where = f"saved{''.join(f'[{key!r}]' for key in {'text': ['vocabulary'], 'source': ['input', 'vocabulary']}[name])}"
    if level in LISTED:
        lines = (
            f"{SPECIAL}{LISTED[level]}"
            f'numbers = {{token: at for at, token in enumerate(SPECIAL + {where}["tokens"])}}\n'
            f"def encode(text): return [numbers.get(token, 1) for token in cut(text.strip(){small})] or [1]\n"
        )
        return lines, ["import re"] if level == "word" else []
    if level == "subword":
        lines = (
            f'tokenizer = Tokenizer.from_str({where}["tokenizer"])\n'
            f"def encode(text): return tokenizer.encode(text.strip(){small}).ids or [1]\n"
        )
        return lines, ["from tokenizers import Tokenizer"]
    lines = "def encode(text): return vocabulary.encode(text.strip()" + f"{small}) or [1]\n"
    return f"vocabulary = load_vocabulary({where})\n{lines}", ["from atento.data import load_vocabulary"]


def source_of(kind: str, saved: Json, *, writes: bool) -> tuple[str, str, list[str]]:
    """Lines that make `given`, the inputs of the first graph, of what is typed."""
    if kind == "numbers":
        return NUMBERS, "'0.5,1 0.7,2'", []
    if kind == "words":
        return WORDS, "'Some words here'", []
    if kind == "image":
        return IMAGE, "IMAGE", ["from PIL import Image"]
    lines, imports = encoder_of(saved["vocabulary"], "source", lower=bool(saved.get("lower")))
    if kind == "image and question":
        return lines + IMAGE_QUESTION, "IMAGE QUESTION", [*imports, "from PIL import Image"]
    if kind == "two texts":
        return lines + (JOINED if writes else PAIR), "TEXT TEXT", imports
    if not saved.get("sentences"):
        return lines + TEXT, "TEXT", imports
    return lines + SENTENCES + TEXT.partition("\n")[2], "TEXT", sorted({*imports, "import re"}, reverse=True)


TEXT = """tokens = encode(" ".join(sys.argv[1:]))
given = {"source": np.array([tokens]), "valid": np.ones((1, len(tokens)), bool)}
"""
JOINED = """tokens = [*encode(sys.argv[1]), 3, *encode(sys.argv[2])]
given = {"source": np.array([tokens]), "valid": np.ones((1, len(tokens)), bool)}
"""
PAIR = """def same(own, other):  # 3: a token of both; atento also finds those that begin alike
    return np.array([[3 if token in other else 1 for token in own]])
one, two = encode(sys.argv[1]), encode(sys.argv[2])
given = {"first": np.array([one]), "first_valid": np.ones((1, len(one)), bool), "first_overlap": same(one, two),
         "second": np.array([two]), "second_valid": np.ones((1, len(two)), bool), "second_overlap": same(two, one)}
"""
NUMBERS = """steps = np.array([[float(cell) for cell in step.split(",")] for step in " ".join(sys.argv[1:]).split()])
scales = np.array(saved["input"]["channels"])
source = ((steps - scales[:, 0]) / scales[:, 1]).astype(np.float32)[None]
given = {"source": source, "valid": np.ones(source.shape[:2], bool)}
"""
WORDS = """words = " ".join(sys.argv[1:]).split()
known, letters = ({one: at for at, one in enumerate(saved["input"][key], 4)} for key in ("words", "letters"))
rows = [[known.get(word.lower() if saved["input"]["lower"] else word, 1), *(letters.get(one, 1) for one in word)]
        for word in words]
source = np.array([[row + [0] * (max(map(len, rows)) - len(row)) for row in rows]])
given = {"source": source, "valid": np.ones(source.shape[:2], bool)}
"""
PIXELS = """side = saved["input"]["images"]["side"]
image = Image.open(sys.argv[1]).convert("RGB").resize((side, side), Image.Resampling.BICUBIC)
pixels = np.asarray(image, np.float32).transpose(2, 0, 1)[None] / 127.5 - 1
"""
IMAGE = (
    PIXELS
    + """given = {"source": pixels, "valid": np.ones((1, 1), bool)}
"""
)
IMAGE_QUESTION = (
    PIXELS
    + """tokens = encode(" ".join(sys.argv[2:]))
given = {"pixels": pixels, "question": np.array([tokens]), "valid": np.ones((1, len(tokens)), bool)}
"""
)
WRITE = """def go_on(logits, state, limit):  # the most probable token, one after the other
    written = []
    while len(written) < limit:
        logits[:, FORBIDDEN] = -np.inf  # padding, unknown and start are never written
        token = logits.argmax(axis=-1)
        if token[0] == 3: break  # the end token
        written.append(int(token[0]))
        found = run("step", token=token, **state); logits = found.pop("logits")
        state |= {name.removeprefix("next_"): part for name, part in found.items()}
    return written
"""
DECODE = """target, special = {where}, ["<pad>", "<unknown>", "<start>", "<end>"]
if target["level"] == "subword":
    from tokenizers import Tokenizer
    print(Tokenizer.from_str(target["tokenizer"]).decode(written))
else:
    tokens = [(special + target["tokens"])[at] for at in written]
    print("".join(tokens) if target["level"] == "char" else " ".join(tokens).replace(" ￭", "").replace("￭ ", ""))
"""
ANSWERS = {
    "label": """outputs = run("model", **given)["outputs"][0]
shares = np.exp(outputs - outputs.max()) / np.exp(outputs - outputs.max()).sum()
print(saved["output"]["labels"][shares.argmax()], f"{shares.max():.4f}")
""",
    "labels": """shares = 1 / (1 + np.exp(-run("model", **given)["outputs"][0]))
print(*np.array(saved["output"]["labels"])[shares > np.array(export["thresholds"])], sep=", ")
""",
    "number": """mean, std = saved["output"]["scale"]
print(f"{run('model', **given)['outputs'][0, 0] * std + mean:.6g}")
""",
    "tags": """scores, chain = run("model", **given)["scores"][0], export.get("transitions")
best, back = scores[0] + (np.array(chain["start"]) if chain else 0), []
for row in scores[1:]:  # the best sequence of tags; without transitions the best of each
    moved = best[:, None] + (np.array(chain["between"]) if chain else 0)
    back.append(moved.argmax(axis=0)); best = moved.max(axis=0) + row
path = [int((best + (np.array(chain["end"]) if chain else 0)).argmax())]
for previous in reversed(back): path.append(int(previous[path[-1]]))
print(*[saved["output"]["tags"][at] for at in reversed(path)])
""",
    "text": WRITE.replace("FORBIDDEN", "[0, 1, 2]")
    + """state = run("first", **given)
written = go_on(state.pop("logits"), state, saved["output"]["longest"])
"""
    + DECODE.format(where='saved["output"]["vocabulary"]'),
}
COMPLETION = (
    WRITE.replace("FORBIDDEN", '[0, 1, 2] if saved["ends"] else [0, 1, 2, 3]')
    + """tokens = [3, *encode(" ".join(sys.argv[1:]))]
state = run("first", tokens=np.array([tokens]))
written = tokens[1:] + go_on(state.pop("logits")[:, -1], state, min(saved["longest"], saved["window"]))
"""
    + DECODE.format(where='saved["vocabulary"]')
)
MASKED = """tokens = np.array([[3, *encode(" ".join(sys.argv[1:]))]])
logits = run("model", tokens=tokens, valid=np.ones(tokens.shape, bool))["logits"]
print(logits.shape, "logits of every token in each place; 2 in a place masks it")
"""
FORECAST = """# a header, a column for each channel, the newest row last
rows = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, ndmin=2)
mean, std = (np.array(saved[key])[0] for key in ("mean", "std"))
past = ((rows[-saved["look_back"]:] - mean) / std).astype(np.float32)[None]
known = np.zeros((1, saved["look_back"] + saved["horizon"], len(saved["covariates"])), np.float32)  # covariates
forecast = run("model", past=past, known=known)["forecast"][0] @ np.array(export["point"])
print(forecast * std + mean)
"""
WINDOW = """# a header, a column for each channel, the newest row last
rows = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, ndmin=2)
mean, std = np.array(saved["mean"]), np.array(saved["std"])
latent = run("encoder", values=((rows[-saved["look_back"]:] - mean) / std).astype(np.float32)[None])["latent"]
print(latent, run("decoder", latent=latent)["values"] * std + mean, sep="\\n")
"""
NEIGHBOURS = """vectors = run("vectors", tokens=np.arange(4, 4 + len(export["words"]))[None])["vectors"][0]
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
near = (vectors @ vectors[export["words"].index(sys.argv[1])]).argsort()[::-1][1:6]
print(*[export["words"][at] for at in near], sep=", ")
"""
