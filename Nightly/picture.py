# SPDX-FileCopyrightText: The swift-run-loops contributors
# SPDX-License-Identifier: Apache-2.0
"""Draws the table of a soak: one strip a column, over time. Usage: picture.py table.tsv picture.svg"""

import sys

with open(sys.argv[1]) as table:
    heading, *rows = [line.rstrip("\n").split("\t") for line in table]
rows = [[int(value) for value in row] for row in rows]
WIDTH, STRIP, LEFT, TOP = 900, 110, 180, 40


def strip(number, name, values):
    most = max(values) or 1
    base = TOP + number * STRIP + STRIP - 25
    points = " ".join(
        f"{LEFT + WIDTH * index / max(1, len(values) - 1):.1f},{base - (STRIP - 45) * value / most:.1f}"
        for index, value in enumerate(values))
    middle = sorted(values)[len(values) // 2]
    return [
        f'<line class="axis" x1="{LEFT}" y1="{base}" x2="{LEFT + WIDTH}" y2="{base}"/>',
        f'<polyline points="{points}"/>',
        f'<text x="{LEFT - 10}" y="{base - 40}" text-anchor="end">{name}</text>',
        f'<text class="small" x="{LEFT - 10}" y="{base - 20}" text-anchor="end">median {middle}, most {most}</text>',
    ]


# Callouts are counted from the beginning: what is drawn is those of each second.
columns = list(zip(*rows))
rates = [later - earlier for earlier, later in zip(columns[-1], columns[-1][1:])]
drawing = []
for number, (name, values) in enumerate(zip(heading[1:-1], columns[1:-1])):
    drawing += strip(number, name, values)
drawing += strip(len(heading) - 2, "callouts a second", rates)
height = TOP + STRIP * (len(heading) - 1) + 20
with open(sys.argv[2], "w") as picture:
    picture.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {height}" role="img">'
        f"<title>A soak of {len(rows)} seconds</title>"
        "<style>svg{background:#fff;font:13px sans-serif;fill:#222}polyline{fill:none;stroke:#1769aa;stroke-width:1.2}"
        ".axis{stroke:#999}.small{font-size:11px;fill:#555}@media(prefers-color-scheme:dark){svg{background:#16181c;"
        "fill:#eee}polyline{stroke:#6db3f2}.axis{stroke:#777}.small{fill:#bbb}}</style>"
        f'<text x="{LEFT}" y="22">A soak of {len(rows)} seconds: each strip from 0 to its most</text>'
        + "".join(drawing) + "</svg>\n")
