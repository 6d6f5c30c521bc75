"""Checks: contracts that a user can run on any module or trained run.

check        `check(module)`: which contracts apply to a module
runs         `check_run(bundle)`: a trained run, on examples of its own test part
sequences    padding, batch, future, gradients, calls, saving: every module that reads a sequence
attention, attention_parts, layers, recurrent, decoders, translators, models, series    further contracts of each
subject, finding    what all of them share: the module under check, and the outcome
"""

from atento.checks.check import check
from atento.checks.finding import Checked, Finding
from atento.checks.runs import check_run

__all__ = ["Checked", "Finding", "check", "check_run"]
