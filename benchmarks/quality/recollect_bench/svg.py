"""SVG shapes for plots."""

from __future__ import annotations

from html import escape

INK, FAINT, GOOD, BAD, EVEN = "#1f2933", "#e4e7eb", "#1f9d6b", "#cf3b3b", "#65707c"
_STYLE = (
    "text{font-family:Inter,'Helvetica Neue',Arial,sans-serif;fill:#1f2933;font-size:12px}"
    ".h{font-size:20px;font-weight:600}.t{font-size:15px;font-weight:600}.s{fill:#65707c;font-size:11px}"
    ".b{font-weight:600}"
)


def picture(width: float, height: float, shapes: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}"><style>{_STYLE}</style><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{shapes}</svg>\n"
    )


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}" stroke-linecap="round"/>'
    )


def circle(x: float, y: float, radius: float, fill: str, stroke: str = "none") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{stroke}"/>'


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def translate_shapes(x: float, y: float, shapes: str) -> str:
    return f'<g transform="translate({x} {y})">{shapes}</g>'
