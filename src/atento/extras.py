"""Extras: packages that a first result does not need. Whoever needs one of them calls `require_extra` first, so that a
missing one is named with the line that installs it.
"""

from importlib.util import find_spec

from atento.errors import MachineError

EXTRAS: dict[str, dict[str, str]] = {  # by name: the modules of each, with the packages that bring them
    "ct2": {"ctranslate2": "ctranslate2"},
    "excel": {"openpyxl": "openpyxl"},
    "export": {"onnx": "onnx", "onnxscript": "onnxscript", "onnxruntime": "onnxruntime"},
    "figures": {"matplotlib": "matplotlib"},
    "images": {"PIL": "pillow"},
    "notebook": {"anywidget": "anywidget"},
    "parquet": {"pyarrow": "pyarrow"},
    "ray": {"ray": "ray"},
    "serve": {"fastapi": "fastapi", "uvicorn": "uvicorn"},
    "studio": {"fastapi": "fastapi", "uvicorn": "uvicorn"},
    "mlflow": {"mlflow": "mlflow-skinny", "sqlalchemy": "sqlalchemy", "alembic": "alembic"},
    "subwords": {"tokenizers": "tokenizers"},
    "tensorboard": {"tensorboard": "tensorboard"},
    "tune": {"optuna": "optuna"},
    "wandb": {"wandb": "wandb"},
}


def require_extra(name: str, use: str, *, instead: str = "") -> None:
    """Raise an error where a package of an extra is missing.

    use: what needs it, as the subject of a sentence.
    instead: what helps without it.
    """
    missing = missing_packages(name)
    if missing:
        raise MachineError(
            f"{use} needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed.",
            found=f"no package {missing[0]}",
            fix=install_line(name) + (f", or {instead}" if instead else ""),
        )


def missing_packages(name: str) -> list[str]:
    """The packages of an extra that are not installed."""
    return [package for module, package in EXTRAS[name].items() if find_spec(module) is None]


def install_line(name: str) -> str:
    """What to type; double quotes are understood by every shell, that of Windows too."""
    return f'pip install "atento[{name}]"'
