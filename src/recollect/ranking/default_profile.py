"""The name of the profile that ranks where nobody names one: read also where no profile is loaded yet."""

from __future__ import annotations

DEFAULT_PROFILE = "recollect"
