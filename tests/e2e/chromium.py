"""The Chromium in which the dashboard is tried: the system's own, as Playwright's is not always to
be had. `CHROMIUM` names another one."""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
"""For root, without a screen, and so that it asks nobody but the page it is shown."""

_APT = ("apt-get", "-o", "DPkg::Lock::Timeout=120")


class NoChromiumError(OSError):
    """Why there is none, in one line for whoever ran `make e2e`."""


def binary() -> str:
    """Where it is; "" = there is none."""
    named = os.environ.get("CHROMIUM", "")
    if named:
        return shutil.which(named) or ""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


def ensure() -> None:
    """Installs Debian's where there is none and we may. Raises `NoChromiumError`."""
    if os.environ.get("CHROMIUM") and not binary():
        raise NoChromiumError(f"CHROMIUM names {os.environ['CHROMIUM']}, which does not run")
    if not binary():
        _install()


def _install() -> None:
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise NoChromiumError(
            "there is no Chromium on PATH; install one (Debian: apt-get install chromium), "
            "or name one in CHROMIUM"
        )
    _apt("update", "-qq")
    _apt("install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-liberation")
    if not binary():
        raise NoChromiumError("apt-get installed chromium, and it is not on PATH")


def _apt(*words: str) -> None:
    command = [*_APT, *words]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        gist = "; ".join((done.stderr or done.stdout).strip().split("\n")[-4:])
        raise NoChromiumError(f"`{' '.join(command)}` failed: {gist}")
