"""What a forked process does: take its place, files and arguments, let the fault in, and be `atento`."""

import os
import runpy
import sys
from pathlib import Path

import torch

order = globals()["order"]  # given by runpy

os.chdir(order["cwd"])
os.environ.update(order["env"])
for number, (path, how) in enumerate(zip(order["files"], (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)):
    opened = os.open(path, how | os.O_NOCTTY)
    os.dup2(opened, number)
    os.close(opened)
sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open to the end
sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - open to the end
sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
sys.argv = ["atento", *order["arguments"]]
torch.set_num_threads(1)
if order["fault"]:
    name, *rest = order["fault"]
    runpy.run_path(str(Path(__file__).with_name("faults.py")))[name](*rest)

from atento.cli.app import main  # noqa: E402

if order["forks"] and order["arguments"][:1] in (["compare"], ["tune"]):
    from forking import Nursery, forked_workers

    with forked_workers(Nursery.by_fork().popen):  # forked before anything was opened or changed
        main()
main()
