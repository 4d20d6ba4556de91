"""Draws what docs/measure.py measured about confidences: reliability diagrams, and wrong against measured pixels."""

import math

BINS = 10
PANEL, GAP, TOP, LEFT = 190, 52, 46, 48
OURS, GREY, INK, PAPER = "#0b62c4", "#c9ced6", "#24292f", "#ffffff"


def text(x, y, string, colour=INK, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{more}>{string}</text>'


def frame(width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                      f'font-family="Helvetica, Arial, sans-serif" font-size="12"><rect width="{width}" height="{height}" fill="{PAPER}"/>',
                      *parts, "</svg>", ""])


def reliability_panel(x, y, name, found):
    at = lambda confidence, good: (x + PANEL * confidence, y + PANEL * (1 - good))
    svg = [f'<text x="{x}" y="{y - 10}" font-weight="bold" fill="{INK}">{name}</text>']
    for i, share in enumerate(found["share"]):
        svg.append(f'<rect x="{x + PANEL * i / BINS:.1f}" y="{y + PANEL * (1 - share):.1f}" width="{PANEL / BINS - 1:.1f}" '
                   f'height="{PANEL * share:.1f}" fill="{GREY}"/>')  # fmt: skip
    svg.append(f'<rect x="{x}" y="{y}" width="{PANEL}" height="{PANEL}" fill="none" stroke="{INK}"/>')
    svg.append(f'<path d="M{x} {y + PANEL}L{x + PANEL} {y}" stroke="{INK}" stroke-dasharray="4 4"/>')
    points = [at(c, g) for c, g, s in zip(found["confidence"], found["good"], found["share"]) if s > 0.001]
    svg.append(f'<path d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in points)}" fill="none" stroke="{OURS}" stroke-width="2"/>')
    svg += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{OURS}"/>' for a, b in points]
    for value in (0, 0.5, 1):
        a, b = at(value, value)
        svg.append(f'<text x="{a:.0f}" y="{y + PANEL + 16}" text-anchor="middle" fill="{INK}">{value:g}</text>')
        svg.append(f'<text x="{x - 6}" y="{b + 4:.0f}" text-anchor="end" fill="{INK}">{value:g}</text>')
    return svg


def reliability_chart(measured):
    datasets = measured["datasets"]
    across = min(3, len(datasets))
    down = -(-len(datasets) // across)
    width, height = LEFT + across * (PANEL + GAP), TOP + down * (PANEL + GAP + 14) + 8
    svg = []
    for i, (name, found) in enumerate(datasets.items()):
        svg += reliability_panel(LEFT + i % across * (PANEL + GAP), TOP + i // across * (PANEL + GAP + 14), f"{name}: {found['calibration_error']}", found)
    caption = "across: confidence; up: share of pixels within 1 pixel of the truth (blue), and of all pixels (grey)"
    svg.append(f'<text x="{LEFT}" y="{height - 10}" fill="{INK}">{caption}</text>')
    return frame(width, height, svg)


# Wrong against measured pixels -------------------------------------------------------------------------------------------

LINES = {"sgm": OURS, "sgm, remeasure": "#3aa0a0", "sgm-learned": "#7a3fb5", "OpenCV SGBM 3WAY": "#6b7280", "OpenCV SGBM HH": "#a8763e"}
LEAST = 0.6  # share of measured pixels at the left end
WIDE, HIGH = 420, 300


def curves_panel(x, y, heading, found):
    points = [point for name in LINES for point in found[name]["curve"] if point[0] >= LEAST]
    most = 0.04 * math.ceil(max(wrong for _, wrong in points) / 0.04)

    def at(measured, wrong):
        return x + WIDE * (measured - LEAST) / (1 - LEAST), y + HIGH * (1 - wrong / most)

    svg = [text(x, y - 12, heading, more=' font-weight="bold"')]
    for i in range(5):
        share = LEAST + (1 - LEAST) * i / 4
        svg += [f'<path d="M{at(share, 0)[0]:.1f} {y}V{y + HIGH}" stroke="#e4e7eb"/>', text(at(share, 0)[0], y + HIGH + 18, f"{100 * share:.0f}", anchor="middle")]
        svg += [f'<path d="M{x} {at(1, most * i / 4)[1]:.1f}H{x + WIDE}" stroke="#e4e7eb"/>', text(x - 6, at(1, most * i / 4)[1] + 4, f"{100 * most * i / 4:.3g}", anchor="end")]
    for i, (name, colour) in enumerate(LINES.items()):
        line = [at(*point) for point in sorted(found[name]["curve"]) if point[0] >= LEAST]
        svg.append(f'<path d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in line)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        a, b = at(*found[name]["default"])
        svg += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4.5" fill="{colour}"/>', text(x + 12, y + 20 + 16 * i, name, colour)]
    return svg


def curves_chart(curves):
    """A panel for indoor scenes, and one for roads."""
    width, height = 2 * (WIDE + 70), HIGH + 116
    svg = curves_panel(56, 40, "indoor, wrong by more than 1 pixel", curves["indoor"])
    svg += curves_panel(56 + WIDE + 70, 40, "roads, wrong by more than 3 pixels", curves["road"])
    svg += [text(56, HIGH + 80, "across: measured pixels, %; up: wrong pixels among them, %. Dots: the default settings."),
            text(56, HIGH + 98, "Lines: the lowest confidence of ours grows, the checks of OpenCV become stricter.")]
    return frame(width, height, svg)
