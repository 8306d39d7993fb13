"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """CPU model, cores, system and Python, in one line."""
    system = f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_cpu()}, {os.cpu_count()} cores, {system}, {python}"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown CPU"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown CPU"
