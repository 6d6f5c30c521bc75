"""Forecasting as a user: one and many series, known covariates, points and intervals, from a file to a table."""

import csv
import json

import numpy as np
import pytest

import atento
from atento.api.predict import predict_file
from atento.cli.app import app
from atento.errors import InputError

QUICK = {
    "train.steps": 250,
    "train.lr": 2e-2,
    "train.warmup": 10,
    "train.batch_tokens": 2000,
    "train.validations": 3,
    "train.threads": 1,
    "data.split": "70/10/20",
}
NOISE = 0.3


def rows_of_shops(shops=3, rows=240, more=7, seed=0):
    """Each shop has a level, a week, and sells more on days of a promotion, which are known beforehand."""
    chance = np.random.default_rng(seed)
    for shop in range(shops):
        promo = (chance.random(rows + more) < 0.3).astype(int)
        level, size = 10.0 ** (shop + 1), 10.0**shop
        for day in range(rows + more):
            week = np.sin(2 * np.pi * day / 7)
            value = level + size * (week + 3 * promo[day] + NOISE * chance.normal())
            when = np.datetime64("2024-01-01") + day
            yield f"shop {shop}", str(when), promo[day], round(value, 6) if day < rows else ""


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    path = tmp_path_factory.mktemp("shops") / "sales.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["unique_id", "ds", "promo", "y"])
        writer.writerows(rows_of_shops())
    return path


def trained(path, folder, **more):
    settings = {**QUICK, "data.horizon": 7, "data.look_back": 14, **more}
    return atento.fit(path, task="forecast", model="linear", settings=settings, out=folder)


@pytest.fixture(scope="module")
def run(shops, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "known"
    return trained(shops, folder, **{"data.future_covariates": "promo", "model.quantiles": "0.1,0.5,0.9"})


@pytest.mark.spec("K08")
def test_many_series_with_known_covariates_point_and_interval(run, shops, tmp_path):
    """The week and the promotion are learned: only the noise is left, and four in five numbers lie in the interval."""
    scores = {name: value for name, (value, _, _) in run.metrics["scores"].items()}
    spread = np.sqrt(0.5 + 9 * 0.3 * 0.7 + NOISE**2)  # of a shop's days, in its own size
    floor = (NOISE / spread) ** 2
    assert floor * 0.7 < scores["mse"] < floor * 1.8
    assert 0.65 < scores["coverage"] < 0.95
    blind = trained(shops, tmp_path / "blind", **{"data.target": "y", "data.future_covariates": ""})
    assert blind.metrics["scores"]["mse"][0] > 8 * floor  # without knowing the days of a promotion nobody can
    table = run.predict_file(str(shops), out=tmp_path / "next.csv")
    truth = {(shop, when): promo for shop, when, promo, value in rows_of_shops() if value == ""}
    assert len(table["ds"]) == 21 == len(truth)
    assert list(table) == ["unique_id", "ds", "y_hat", "y-0.1", "y-0.5", "y-0.9"]
    for shop, when, said, low, high in zip(
        *(table[key] for key in ("unique_id", "ds", "y_hat", "y-0.1", "y-0.9")), strict=True
    ):
        number = int(shop.split()[1])
        day = (np.datetime64(when) - np.datetime64("2024-01-01")).astype(int)
        expected = 10.0 ** (number + 1) + 10.0**number * (np.sin(2 * np.pi * day / 7) + 3 * truth[shop, when])
        assert abs(said - expected) < 0.6 * 10.0**number
        assert low <= said <= high
    written = (tmp_path / "next.csv").read_text(encoding="utf-8").splitlines()
    assert written[0] == "unique_id,ds,y_hat,y-0.1,y-0.5,y-0.9" and len(written) == 22


@pytest.mark.spec("K08")
def test_intervals_are_conformal_and_kept_with_the_weights(run, shops, tmp_path):
    """The offsets lie in the weights: a model that is loaded, or exported, answers with the very same intervals."""
    offsets = run.predictor.module.conformal.offsets
    assert offsets.shape == (7, 1, 3) and (offsets[..., 2] >= 0).all() and not offsets[..., 1].any()
    (note,) = [note for note in run.metrics["data"]["notes"] if "conformalized" in note]
    assert "forecasts of the validation part" in note and "80% promised" in note
    assert "promise 80%" in run.metrics["metrics"]["coverage"]
    assert 0.75 < run.metrics["scores"]["coverage"][0] < 0.85  # noise of one kind throughout: within five points
    again = atento.load(run.folder)
    assert again.predictor.module.conformal.offsets.equal(offsets)
    assert again.predict_file(str(shops)) == run.predict_file(str(shops))
    # training goes on with the quantiles as they are learned, and calibrates them anew
    settings = {**QUICK, "train.steps": 3, "data.future_covariates": "promo"}
    on = atento.fit(shops, settings=settings, start_from=run.folder, out=tmp_path / "on")
    assert [note for note in on.metrics["data"]["notes"] if "conformalized" in note]


def test_a_level_far_from_training_is_told(run, shops, tmp_path):
    """The first shop sells a thousand times as much; that of the training itself is not told."""
    header, *lines = shops.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines]
    larger = [[*row[:3], str(1000 * float(row[3])) if row[3] and row[0] == "shop 0" else row[3]] for row in rows]
    (tmp_path / "larger.csv").write_text("\n".join([header, *map(",".join, larger)]) + "\n", encoding="utf-8")
    found, same = (predict_file(run.predictor, str(path)) for path in (tmp_path / "larger.csv", shops))
    assert [note for note in found.notes if "'y' is far from what the model was trained on" in note]
    assert not [note for note in same.notes if "far from" in note]


def test_what_is_known_beforehand_must_be_there(run, shops, tmp_path):
    lines = [line for line in shops.read_text(encoding="utf-8").splitlines() if not line.endswith(",")]
    (tmp_path / "ended.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="needs the future covariates promo of these steps"):
        run.predict_file(str(tmp_path / "ended.csv"))
    found = run.evaluate(str(tmp_path / "ended.csv"))
    assert found.scores["coverage"][0] > 0.6 and found.examples == 3 * (240 - 20)


@pytest.mark.spec("K08", "D04")
def test_one_series_one_step_several_and_on_its_own_output(tmp_path):
    """A sine in a wide table: learned one step ahead and walked, or seven at once; both go on far beyond."""
    steps = np.arange(400)
    lines = ["time,a,b", *(f"{at},{np.sin(0.3 * at):.8f},{5 + 3 * np.sin(0.3 * at + 1):.8f}" for at in steps)]
    (tmp_path / "waves.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    truth = np.stack([np.sin(0.3 * np.arange(400, 420)), 5 + 3 * np.sin(0.3 * np.arange(400, 420) + 1)], axis=1)
    for strategy, settings in (("recursive", {"train.rollout": 4}), ("direct", {})):
        values = {"data.horizon": 7, "data.look_back": 12, "model.strategy": strategy, "train.steps": 200, **settings}
        run = trained(tmp_path / "waves.csv", tmp_path / strategy, **values)
        assert run.metrics["scores"]["mse"][0] < 0.02
        for asked in (1, 7, 20):
            table = run.predict_file(str(tmp_path / "waves.csv"), settings={"decode.horizon": asked})
            assert len(table["a"]) == asked
            near = min(asked, 7)
            assert np.abs(np.array(table["a"])[:near] - truth[:near, 0]).max() < 0.35
            assert np.abs(np.array(table["b"])[:near] - truth[:near, 1]).max() < 1.05


def test_looked_at_on_a_terminal_as_page_picture_and_numbers(run, tmp_path, command):
    said = command("look", run.folder, "--what", "forecast", "--out", tmp_path / "f.png")
    assert "past" in said and "seasonal" in said and "within the quantiles 0.1 to 0.9" in said
    assert (tmp_path / "f.png").stat().st_size > 10_000
    command("look", run.folder, "shop 1", "--what", "forecast", "--out", tmp_path / "f.html")
    assert "shop 1 until 2024-" in (tmp_path / "f.html").read_text(encoding="utf-8")
    view = json.loads(command("look", run.folder, "--what", "forecast", "--json"))
    (one,) = view["shown"]
    assert len(one["forecast"]) == len(one["actual"]) == len(one["low"]) == 7 and set(one["others"]) == {
        "seasonal",
        "ridge",
        "last-value",
    }
    assert "in units" in command("look", run.folder, "--what", "steps")
    assert "has no attention" in command("look", run.folder)


def test_checked_and_continued(run, shops, tmp_path):
    assert atento.check(run.folder)
    again = atento.fit(
        shops,
        settings={"train.steps": 3, "data.future_covariates": "promo", "data.split": "70/10/20"},
        start_from=run.folder,
        out=tmp_path / "on",
    )
    assert again.metrics["scores"]["mse"][0] < 2 * run.metrics["scores"]["mse"][0]


@pytest.mark.parametrize("stays", [True, False])
def test_training_that_does_not_help_leaves_the_closed_form(stays, shops, tmp_path):
    """The closed form knows nothing of promotions, which small steps learn and far too large ones do not."""
    settings = {**QUICK, "train.steps": 40, "data.horizon": 7, "data.look_back": 14}
    settings |= {"data.future_covariates": "promo", "train.lr": 5.0 if stays else 2e-2}
    run = atento.fit(shops, task="forecast", model="linear", settings=settings, out=tmp_path / "run")
    assert (run.metrics["best_step"] == 0) is stays
    assert any("did not improve on the closed form" in note for note in run.metrics["data"]["notes"]) is stays
    assert run.metrics["curve"][0]["step"] == 0


def test_compared_with_a_report(shops, tmp_path):
    settings = {**QUICK, "train.steps": 30, "data.future_covariates": "promo", "data.horizon": 7, "data.look_back": 14}
    board = atento.compare(shops, models=["gru+dot"], settings=settings, out=tmp_path / "board")
    rows = {row.model: row for row in board.rows}
    assert {"last-value", "seasonal", "drift", "ridge", "autoregression", "gru+dot"} <= set(rows)
    assert not any(row.failed for row in board.rows)
    assert [band["label"] for band in rows["gru+dot"].lengths] == [
        "1–2",
        "3–5",
        "6–7",
    ]
    report = board.report().read_text(encoding="utf-8")
    assert "Forecasts" in report and "steps ahead" in report and board.alignments
    assert {view.kind for view in board.forecasts} == {"chosen", "worst"}


def test_backtest_rolls_over_the_last_part(shops, tmp_path, command):
    quick = [word for key, value in {**QUICK, "train.steps": 20}.items() for word in ("--set", f"{key}={value}")]
    frame = ["--set", "data.horizon=7", "--set", "data.look_back=14", "--set", "data.future_covariates=promo"]
    said = command(
        "backtest", shops, "--models", "linear", "--origins", "2", *quick, *frame, "--out", tmp_path / "back"
    )
    assert "origin" in said and "ridge" in said and "trained once" in said
    settings = {**QUICK, "train.steps": 20, "data.horizon": 7, "data.look_back": 14, "data.future_covariates": "promo"}
    found = atento.backtest(shops, models=["linear"], origins=2, refit=True, out=tmp_path / "anew", settings=settings)
    once = json.loads((tmp_path / "back" / "backtest.json").read_text(encoding="utf-8"))
    values = {(row.model, row.origin): row.value for row in found.rows}
    before = {(row["model"], row["origin"]): row["value"] for row in once["rows"]}
    assert values["ridge", 1] == before["ridge", 1] and values["ridge", 2] != before["ridge", 2]
    assert values["last-value", 2] == pytest.approx(before["last-value", 2])
    mean = np.mean([values["ridge", 1], values["ridge", 2]])
    assert next(row for row in found.means if row.model == "ridge").value == pytest.approx(mean)
    first, second = (atento.load(tmp_path / "anew" / f"origin-{at}" / "linear") for at in (1, 2))
    parts = [one.metrics["data"]["notes"] for one in (first, second)]
    assert any("504 rows to train" in note for note in parts[0]) and any(
        "576 rows to train" in note for note in parts[1]
    )
    with pytest.raises(InputError, match="origins"):
        atento.backtest(shops, origins=0)


@pytest.fixture
def command(capsys, monkeypatch):
    """A command of the command line; what it says."""

    def ask(*words):
        monkeypatch.setattr("sys.argv", ["atento", *map(str, words)])
        app([*map(str, words)], standalone_mode=False)
        return capsys.readouterr().out

    return ask


def test_a_known_text_column_is_told_in_full(tmp_path):
    """A later file in which no day has a promotion is read like the one that was learned from."""
    learned, later = tmp_path / "learned.csv", tmp_path / "later.csv"
    days = [np.datetime64("2020-01-01") + at for at in range(130)]
    rows = [f"{day},{'yes' if at % 3 else 'no'},{at % 7 + (at % 3 > 0)}" for at, day in enumerate(days)]
    learned.write_text("day,promo,sold\n" + "\n".join(rows) + "\n")
    calm = [f"{day},no,{at % 7 if at < 120 else ''}" for at, day in enumerate(days[:123])]
    later.write_text("day,promo,sold\n" + "\n".join(calm) + "\n")
    settings = {"data.future_covariates": "promo", "data.horizon": 3, "data.look_back": 7, "train.steps": 2}
    run = atento.fit(learned, model="linear", settings=settings, out=tmp_path / "run")
    assert run.recipe.data.future_covariates == "promo=no,promo=yes"
    assert len(run.predict_file(str(later))["sold"]) == 3
