"""What the user alone does: what he set up holds the model, too."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.session.client_process import is_inside_client


def refuse_model(why: str) -> None:
    """Raises `SisyphusError` in the client's own shell; `why`: a clause, without its stop."""
    if is_inside_client():
        raise SisyphusError(f"{why}. Do it in another terminal.")
