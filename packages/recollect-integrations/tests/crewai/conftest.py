"""Nothing leaves the machine: CrewAI's telemetry and tracing are off before it is imported."""

from __future__ import annotations

import os

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TESTING": "true",
}
