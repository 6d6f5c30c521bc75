"""A first day with nothing but the wheel: in a fresh environment `atento demo`, `compare numbers`, `predict`, then a
server and the studio with their extras. Prints each command with its time and the installed size; exits 1 if one fails.

`--keep FOLDER` leaves environment and runs there.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from installed_size import added, build_wheel, install, make_environment, tell, weigh

SECONDS = 600


def main(place: Path) -> int:
    """The number of commands that failed."""
    wheel = build_wheel(place)
    python = make_environment(place / "environment")
    empty = weigh(python)
    install(python, str(wheel))
    work = place / "work"
    work.mkdir()
    (work / "words.txt").write_text("drei\nvierzig\n", encoding="utf-8")
    commands = [
        (0, "demo --no-browser --budget 20s"),
        (0, "compare numbers --budget 20s --quiet --out board"),
        (0, "predict board words.txt --out answers.csv"),
        (0, "doctor"),
        (3, "studio --no-browser"),  # the extra is missing, and named
        (3, "serve board"),
    ]
    failed = sum(not passes(python, work, expected, words) for expected, words in commands)
    for words, extra in (("studio --no-browser", "studio"), ("serve board", "serve")):
        failed += f'pip install "atento[{extra}]"' not in said(python, work, words)
    failed += len((work / "answers.csv").read_text(encoding="utf-8").splitlines()) != 3
    tell(added(empty, weigh(python)))
    install(python, f"{wheel}[serve]")
    failed += not server_answers(python, work)
    install(python, f"{wheel}[studio]")
    failed += not studio_answers(python, work)
    print("everything works" if not failed else f"{failed} failed")
    return failed


def passes(python: Path, work: Path, expected: int, words: str) -> bool:
    """Run a command and say how it went."""
    began = time.perf_counter()
    done = subprocess.run(
        command(python, words), cwd=work, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    took = time.perf_counter() - began
    print(f"{'ok ' if done.returncode == expected else 'FAILED'} {took:5.0f} s  atento {words}", flush=True)
    if done.returncode != expected:
        print(done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode == expected


def said(python: Path, work: Path, words: str) -> str:
    """What a command remarks."""
    return subprocess.run(command(python, words), cwd=work, capture_output=True, text=True, check=False).stderr


def command(python: Path, words: str) -> list[str]:
    """The installed command, as the script that pip made."""
    return [str(python.with_name("atento.exe" if python.suffix else "atento")), *words.split()]


def server_answers(python: Path, work: Path) -> bool:
    """Serve the best model of the comparison, and ask it."""
    words, question = command(python, "serve board --port 0"), json.dumps({"rows": [{"text": "drei"}]}).encode()
    with subprocess.Popen(words, cwd=work, stdout=subprocess.PIPE, text=True) as server:
        link = [server.stdout.readline() for _ in range(2)][-1].strip() if server.stdout else ""
        try:
            asked = urllib.request.Request(f"{link}predict", question, {"Content-Type": "application/json"})
            (result,) = json.load(urllib.request.urlopen(asked, timeout=60))["results"]
        finally:
            server.terminate()
    print(f"ok   the server answers {result['answer']['text']!r}" if result["answer"] else "FAILED the server")
    return bool(result["answer"])


def studio_answers(python: Path, work: Path) -> bool:
    """Start the studio, and ask it for its page."""
    words = command(python, "studio --no-browser --port 0")
    with subprocess.Popen(words, cwd=work, stdout=subprocess.PIPE, text=True) as server:
        link = [server.stdout.readline() for _ in range(2)][-1].strip() if server.stdout else ""
        try:
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())  # it keeps the token
            page = browser.open(link, timeout=60).read().decode()
        finally:
            server.terminate()
    print(f"ok   the studio answers at its link, {len(page)} characters" if "<html" in page else "FAILED the studio")
    return "<html" in page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", default="", help="a new folder for the environment and the runs")
    keep = parser.parse_args().keep
    if keep:
        Path(keep).mkdir(parents=True)
        sys.exit(min(1, main(Path(keep).resolve())))
    with tempfile.TemporaryDirectory() as place:
        sys.exit(min(1, main(Path(place))))
