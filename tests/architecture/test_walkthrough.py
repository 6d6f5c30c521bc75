"""docs/walkthrough.md names every file that one training enters, in the order in which it enters them."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "walkthrough.md"
MOST_FILES = 131  # a ratchet: the walk may become shorter, not longer

TRAIN = """
import json, sys
from pathlib import Path

root, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
(folder / "pairs.tsv").write_text("source\\ttarget\\n" + "".join(f"ab{i:03d}\\tba{i:03d}\\n" for i in range(300)))
entered = []

def spy(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(str(root)) and not code.co_name.startswith("<"):
        if code.co_filename not in entered:
            entered.append(code.co_filename)

from typer.testing import CliRunner
from atento.cli.app import app
import atento.cli.train, atento.api.fit  # what is imported is not yet entered
import atento.tasks.catalogue

sys.setprofile(spy)
options = ["--model", "lstm+additive", "--set", "model.hidden=8", "--set", "train.steps=1"]
options += ["--out", str(folder / "run")]
done = CliRunner().invoke(app, ["train", str(folder / "pairs.tsv"), *options])
sys.setprofile(None)
if done.exit_code:
    raise SystemExit(done.output)
print(json.dumps([str(Path(file).relative_to(root.parent.parent)) for file in entered]))
"""


def entered_files(folder: Path) -> list[str]:
    """The source files that one training from the command line enters, in the order of their first call."""
    command = [sys.executable, "-c", TRAIN, str(ROOT / "src" / "atento"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def named_files(page: str) -> list[str]:
    """The files that the page names, in the order of their first mention before the section on other commands."""
    walk = page.split("\n## ")[0]
    return list(dict.fromkeys(re.findall(r"`(src/atento/[\w/]+\.py)`", walk)))


def test_the_page_names_the_files_of_a_training_in_order(tmp_path):
    entered = entered_files(tmp_path)
    assert len(entered) <= MOST_FILES
    assert named_files(PAGE.read_text(encoding="utf-8")) == entered
