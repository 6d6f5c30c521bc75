"""Bad input: where, what was found, one way to mend it; exit code 2, no traceback, nothing written."""

import pytest

ROWS = "".join(f"{word}\t{word[::-1]}\n" for word in ("eins", "zwei", "drei", "vier", "acht", "neun", "zehn", "elf"))

FILES = {
    "good.tsv": ROWS,
    "named.csv": "German,English\n" + "".join(f"wort {n},a word {n} here\n" for n in range(9)),
    "empty.tsv": "",
    "blank.tsv": " \n\n",
    "bytes.tsv": b"a\tb\nc\x81\x00\xff\xfe\td\n",
    "short.tsv": "a b\tc d\ne f\ng h\ti j\n",
    "quote.csv": 'a b,c d\n"e f,g h\ni j,k l\n',
    "guessed.csv": 'a,b\n1,"x\n2,y\n',
    "no_source.tsv": "a b\tc d\n \tg h\n",
    "no_target.tsv": "a b\tc d\ne f\t\n",
    "two.tsv": "eins\tone\nzwei\ttwo\n",
    "one.txt": "a b\nc d\n",
    "measured.csv": "x,y\n1.5,2.5\n2.5,3.5\n0.5,1.5\n",
    "a.de": "eins\nzwei\ndrei\n",
    "a.en": "one\ntwo\n",
    "bad_key.toml": '[data]\ntrain = "good.tsv"\n[model]\nhiden = 8\n',
    "bad_section.toml": '[data]\ntrain = "good.tsv"\n[modell]\nhidden = 8\n',
    "no_section.toml": "model = 3\n",
    "syntax.toml": '[data]\ntrain = "good.tsv\n',
    "bad_type.toml": '[data]\ntrain = "good.tsv"\n[model]\nhidden = "wide"\n',
    "no_data.toml": "[model]\nhidden = 8\n",
    "deep.toml": "a = " + "[" * 20_000 + "]" * 20_000,
    "latin.toml": "[data]\ntrain = 'größe.tsv'\n".encode("latin-1"),
    "damaged.parquet": b"PAR1 and no more",
    "damaged.xz": b"\xfd7zXZ\x00 and no more",
    "list.jsonl": '{"source": "a", "target": "b"}\n{"source": "c", "target": ["d"\n',
}
HIDDEN = ("--set", "model.hidden=16")

# What is typed, and what must be said about it.
CASES = {
    "missing file": (("train", "goood.tsv"), ("no file goood.tsv", "did you mean good.tsv?")),
    "missing folder": (("train", "no/where.tsv"), ("no file no/where.tsv", "no folder no")),
    "missing recipe": (("train", "recipe.toml"), ("recipe.toml: this recipe cannot be read", "No such file", "fix:")),
    "a folder": (("train", "."), ("is a folder", "fix:")),
    "empty file": (("train", "empty.tsv"), ("empty.tsv:1:1: the file is empty", "0 bytes")),
    "blank file": (("train", "blank.tsv"), ("blank.tsv:1:1: the file is empty", "white space")),
    "no text": (("train", "bytes.tsv"), ("bytes.tsv:2:2: this is not text", "the byte 0x81")),
    "too few fields": (("train", "short.tsv"), ("short.tsv:2:4: the row has 1 field where 2", "'e f'", "after a tab")),
    "unclosed quote": (("train", "quote.csv"), ("quote.csv:2:1: a quote opens here", "close the quote")),
    "unclosed quote in a file of no known task": (("train", "guessed.csv"), ("guessed.csv:2:3: a quote opens here",)),
    "empty source": (("train", "no_source.tsv"), ("no_source.tsv:2:1: the column '1' is empty", "data.bad_rows=skip")),
    "empty target": (("train", "no_target.tsv"), ("no_target.tsv:2:5: the column '2' is empty", "data.bad_rows=skip")),
    "one column": (("train", "one.txt", "--task", "translate"), ("one.txt:1: there is one column", "two files")),
    "unequal files": (("train", "a.de,a.en"), ("a.en:3:1: the files do not have the same number of lines", "3 lines")),
    "missing half": (("train", "a.de,a.es"), ("no file a.es", "did you mean")),
    "damaged parquet": (("train", "damaged.parquet"), ("damaged.parquet:1:1: this cannot be read", "fix:")),
    "damaged xz": (("train", "damaged.xz"), ("damaged.xz cannot be unpacked", "fix:")),
    "damaged jsonl": (("train", "list.jsonl"), ("list.jsonl:2:", "fix:")),
    "unknown column": (
        ("train", "named.csv", "--set", "data.source=Germn", "--set", "data.target=English"),
        ("named.csv:1: there is no column 'Germn'", "data.source=German"),
    ),
    "bad split": (("train", "good.tsv", "--set", "data.split=50/60/10"), ("data.split adds up to 120", "80/10/10")),
    "too few rows": (("train", "two.tsv"), ("2 different sources cannot fill 3 parts", "2 rows", "at least 3 rows")),
    "unknown model": (("train", "good.tsv", "--model", "lsmt"), ("there is no model 'lsmt'", "did you mean 'lstm'?")),
    "unknown score": (
        ("train", "good.tsv", "--model", "lstm+aditive"),
        ("no score, distribution or extent 'aditive'", "did you mean 'additive'?"),
    ),
    "no score": (("train", "good.tsv", "--model", "lstm+sparsemax"), ("names no score", "lstm+dot+sparsemax")),
    "three parts": (("train", "good.tsv", "--model", "rnn/rnn/rnn"), ("more than two parts", "ENCODER/DECODER")),
    "unknown key": (("train", "good.tsv", "--set", "model.hiden=8"), ("no recipe key 'model.hiden'", "model.hidden?")),
    "key without section": (("train", "good.tsv", "--set", "hidden=8"), ("no recipe key 'hidden'", "model.hidden?")),
    "no equals sign": (("train", "good.tsv", "--set", "model.hidden"), ("--set model.hidden: there is no '='", "fix:")),
    "wrong type": (("train", "good.tsv", "--set", "model.hidden=wide"), ("model.hidden cannot be 'wide'", "takes int")),
    "out of range": (
        ("train", "good.tsv", "--set", "model.dropout=1.5"),
        ("model.dropout cannot be '1.5'", "at least 0 and less than 1"),
    ),
    "not a number": (("train", "good.tsv", "--set", "train.lr=nan"), ("train.lr cannot be 'nan'", "fix:")),
    "unknown word": (("train", "good.tsv", "--set", "model.norm=mid"), ("model.norm cannot be 'mid'", "pre | post")),
    "key in recipe": (
        ("train", "bad_key.toml"),
        ("bad_key.toml: there is no recipe key 'model.hiden'", "model.hidden?"),
    ),
    "section in recipe": (
        ("train", "bad_section.toml"),
        ("bad_section.toml: there is no recipe key 'modell.", "model."),
    ),
    "no section": (("train", "no_section.toml"), ("no_section.toml: model is a section", "write [model]")),
    "type in recipe": (("train", "bad_type.toml"), ("bad_type.toml: model.hidden cannot be 'wide'", "takes int")),
    "recipe without data": (("train", "no_data.toml"), ("no_data.toml: the recipe names no data", "data.train=FILE")),
    "TOML syntax": (("train", "syntax.toml"), ("syntax.toml:2:18: this is not TOML", "fix:")),
    "TOML too deep": (("train", "deep.toml"), ("deep.toml: this is not TOML", "fix:")),
    "TOML in Latin-1": (("train", "latin.toml"), ("latin.toml: a recipe is UTF-8 text", "fix:")),
    "heads": (
        ("train", "good.tsv", "--model", "transformer", *HIDDEN, "--set", "model.heads=3"),
        ("model.heads must divide model.hidden", "model.heads=3, model.hidden=16", "1, 2, 4, 8, 16"),
    ),
    "odd width": (
        ("train", "good.tsv", "--model", "gru", "--set", "model.hidden=15"),
        ("model.hidden must be even", "model.hidden=16"),
    ),
    "unknown task": (("train", "good.tsv", "--task", "translte"), ("no task 'translte'", "did you mean 'translate'?")),
    "no task fits": (("train", "measured.csv"), ("measured.csv: no task fits", "--task translate")),
    "bad duration": (("train", "good.tsv", "--budget", "soon"), ("--budget", "'soon' is not a duration", "5m or 1h")),
    "bad duration set": (
        ("train", "good.tsv", "--set", "train.budget=soon"),
        ("train.budget cannot be 'soon'", "90s, 5m or 1h"),
    ),
    "no budget": (("train", "good.tsv", "--budget", "0"), ("--budget 0 leaves no time", "--budget 5m")),
    "task of another name": (("train", "good.tsv", "--task", "ner"), ("no task 'ner'", "did you mean 'tag'?")),
    "model in capitals": (("train", "good.tsv", "--model", "LSTM"), ("'LSTM'", "did you mean 'lstm'?")),
    "device of another name": (("train", "good.tsv", "--device", "gpu"), ("'gpu'", "did you mean 'cuda'?")),
    "nothing alike": (("data", "xyzzy"), ("no built-in data set 'xyzzy'", "choose one of numbers, cook")),
    "language": (("train", "numbers", "--set", "data.source=fr"), ("data.source: there is no language 'fr'", "de, en")),
    "one model twice": (("compare", "good.tsv", "--models", "rnn,gru,rnn"), ("rnn is named twice", "each model once")),
    "unknown in models": (("compare", "good.tsv", "--models", "rnn,gruu"), ("no model 'gruu'", "did you mean 'gru'?")),
    "out is a file": (("train", "good.tsv", "--out", "good.tsv"), ("good.tsv is a file", "another --out")),
    "from nowhere": (("train", "good.tsv", "--from", "run"), ("run: there is no such run", "`atento runs`")),
    "from a plain folder": (("train", "good.tsv", "--from", "."), ("not a trained model", "manifest.json")),
    "no run": (("evaluate", "run", "good.tsv"), ("run: there is no such run", "`atento runs`")),
    "report of nothing": (("report", "."), ("not a trained model", "fix:")),
    "unknown built-in": (("data", "number"), ("no built-in data set 'number'", "did you mean 'numbers'?")),
    "inspect nothing": (("inspect", "goood.tsv"), ("no file goood.tsv", "did you mean good.tsv?")),
    "unknown command": (("trian", "good.tsv"), ("trian", "train")),
    "unknown option": (("train", "good.tsv", "--modle", "rnn"), ("--modle", "--model")),
    "unknown device": (("train", "good.tsv", "--device", "tpu"), ("--device", "tpu", "cuda")),
    "negative seed": (("train", "good.tsv", "--seed", "-1"), ("at least 0", "train good.tsv --seed 0")),
    "missing argument": (("train",), ("Missing argument",)),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder of files, most of them wrong."""
    place = tmp_path_factory.mktemp("desk")
    for name, content in FILES.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def assert_refused(done, expected):
    """Code 2, and all that must be said on standard error alone."""
    assert done.code == 2, done
    assert done.out == ""
    assert "Traceback" not in done.err
    for text in expected:
        assert text in done.err


@pytest.mark.parametrize("case", CASES)
def test_refused_with_place_finding_and_fix(atento_command, processes, desk, case):
    (arguments, expected), before = CASES[case], processes.snapshot(desk)
    assert_refused(atento_command.here(*arguments, cwd=desk), expected)
    assert processes.snapshot(desk) == before


@pytest.mark.parametrize("case", ["too few fields", "unknown option", "TOML too deep"])
def test_a_process_ends_with_code_2_and_no_traceback(atento_command, processes, desk, case):
    (arguments, expected), before = CASES[case], processes.snapshot(desk)
    assert_refused(atento_command.run(*arguments, cwd=desk), expected)
    assert processes.snapshot(desk) == before


def test_no_gpu_is_the_machine_s_fault(atento_command, processes, desk):
    before = processes.snapshot(desk)
    done = atento_command.run("train", "good.tsv", "--device", "cuda", cwd=desk, env={"CUDA_VISIBLE_DEVICES": ""})
    assert done.code == 3
    assert "--device cuda: there is no GPU here" in done.err
    assert "--device cpu" in done.err
    assert processes.snapshot(desk) == before


def test_an_error_is_a_document_too(atento_command, desk):
    done = atento_command.here("train", "short.tsv", "--json", cwd=desk)
    assert done.code == 2
    error = done.document["error"]
    assert error["problem"].startswith("short.tsv:2:4: ")
    assert error["found"] and error["fix"]
    assert error["exit_code"] == 2


def test_debug_shows_the_traceback(atento_command, desk):
    done = atento_command.run("train", "short.tsv", "--debug", cwd=desk)
    assert done.code == 1
    assert "Traceback" in done.err
    assert "short.tsv:2:4" in done.err
