"""What `atento look` shows of series: a forecast beside what came, the phase portrait of a free run."""

from pathlib import Path
from typing import TYPE_CHECKING

from atento.cli.look_words import tell

if TYPE_CHECKING:
    from atento.api.run import Run


def show_forecast(trained: "Run", asked: str, *, out: Path | None, json: bool) -> None:
    """One forecast of the test part: the one that a series or a time names, else the one in the middle."""
    from atento.api.forecasts import look_at_forecast
    from atento.looking.forecast_view import forecast_text, save_forecast

    view = look_at_forecast(trained, asked)
    if out is not None:
        save_forecast(view, out)
    tell(trained, view, forecast_text, out=out, json=json)


def show_phase(trained: "Run", *, out: Path | None, json: bool) -> None:
    """Where a free run goes, beside where the truth went; of an autoencoder the path of its latents."""
    from atento.api.latents import look_at_latents, presses
    from atento.looking.latent_view import latent_text, save_latents

    if presses(trained):
        latents = look_at_latents(trained)
        if out is not None:
            save_latents(latents, out)
        tell(trained, latents, latent_text, out=out, json=json)
        return
    from atento.api.dynamics import look_at_phase
    from atento.looking.phase import phase_text, save_phase

    view = look_at_phase(trained)
    if out is not None:
        save_phase(view, out)
    tell(trained, view, phase_text, out=out, json=json)
