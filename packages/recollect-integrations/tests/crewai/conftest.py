"""Switches off CrewAI's telemetry and tracing before it is imported, so that tests send no data."""

from __future__ import annotations

import os

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TESTING": "true",
}
