"""Tasks: an input × an output, from a file to an answer.

- `catalogue`: every task by name, with its input, output, reader and defaults. `finding`: which task a file is for.
- `pairs`: the product of an input and an output. `inputs/`: text, two texts, words, numbers, image, image and question.
  `outputs/`: one label, several labels, tags, written text, number.
- `generate/`, `embed/`, `autoencode/`, `forecast/`: tasks that are no such product.
- `reading/`: the three parts of a data set. `recognising/`: how likely a file is meant for a task. `defaults/`: recipe
  values chosen by measurement.
- `task`: what a task is. `traces`: what a model shows of an answer. `leaks`: what a codec must not know.

Each may import from those that `tests/architecture/test_imports.py` lists after it.
"""
