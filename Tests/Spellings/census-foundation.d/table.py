# SPDX-FileCopyrightText: The swift-run-loops contributors
# SPDX-License-Identifier: Apache-2.0
"""Prints the page of every name, from what Tests/Spellings/census-foundation found in the folder that is the argument."""

import json
import re
import sys

folder = sys.argv[1]
TYPES = ["RunLoop", "Timer", "Port", "MessagePort", "SocketPort", "PortMessage", "PortDelegate", "NotificationQueue"]

# Where a name that is there differs from Apple's, or is new.
DIFFERENCES = {
    "RunLoop.acceptInput(forMode:before:)": "Takes a `Mode`, and a `String` as Foundation on Linux does.",
    "RunLoop.add(_:forMode:)": "Takes a `CFRunLoopTimer` too, as on Apple's systems. Adding a timer takes O(log n) in the timers of the mode.",
    "RunLoop.run(mode:before:)": "Traps on a foreign thread. So do all members that run the loop.",
    "RunLoop.native": "New: the loop itself.",
    "RunLoop.Mode.native": "New: the mode of the loop itself.",
    "RunLoop.Mode.tracking": "UIKit declares it on Apple's systems.",
    "RunLoop.Mode.eventTracking": "AppKit declares it on Apple's systems.",
    "RunLoop.Mode.modalPanel": "AppKit declares it on Apple's systems.",
    "RunLoop.perform(target:order:modes:block:)": "New: in place of a selector.",
    "RunLoop.perform(target:afterDelay:inModes:block:)": "New: in place of a selector.",
    "RunLoop.perform(inModes:waitUntilDone:block:)": "New: in place of a selector, and an input source as there. Traps where Apple's would never return.",
    "RunLoop.cancelPerforms(withTarget:)": "New: in place of a selector.",
    "Timer.coreFoundation": "New: the same object as a `CFRunLoopTimer`, in place of Apple's `as`.",
    "Timer.userInfo": "Always `nil`: only the initialisers with selectors set it.",
    "Port.init()": "Keeps a mode from being empty, and receives nothing: write `MessagePort()` for messages.",
    "Port.reservedSpaceLength": "Always 0.",
    "PortMessage.components": "`Data`, `NSData` and ports.",
    "MessagePort": "For messages inside a program.",
    "SocketPort": "The messages of Foundation on Linux, not those of Apple's systems.",
    "NotificationQueue": "Traps on a thread other than its own.",
}
# Members that come with a protocol, such as `Equatable` and `OptionSet`, are not names of their own.
DERIVED = re.compile(
    r"\.(!=\(|hash|isEqual|NotificationCoalescing\.(?!none|onName|onSender|init\(rawValue|rawValue)|PostingStyle\.init)")


def names(module):
    with open(f"{folder}/{module}/{module}.symbols.json") as graph:
        paths = (symbol["pathComponents"] for symbol in json.load(graph)["symbols"])
        return {".".join(path) for path in paths if path[0] in TYPES}


def refused():
    """Each name of Refused.swift with what the compiler says, which says nothing else."""
    with open("Tests/Spellings/census-foundation.d/Refused.swift") as source:
        lines = source.read().splitlines()
    said = {}
    with open(f"{folder}/refused") as output:
        for line in output:
            if found := re.match(r"\S*Refused\.swift:(\d+):\d+: error: '.*' (?:is unavailable: (.*)|has been (renamed to .*))", line):
                said[int(found[1])] = found[2] or re.sub(r"renamed to '(.*)'", r"Use `\1`.", found[3])
            elif "error:" in line and re.match(r"\S", line):
                sys.exit("the compiler says something else: " + line)
    rows = []
    for number, line in enumerate(lines, 1):
        if found := re.match(r" *// ((?:\w+\.)?\w+(?:\(.*\))?)$", line):
            if number + 1 not in said:
                sys.exit(f"{found[1]} compiles, or is refused without a sentence")
            rows.append((found[1], said[number + 1]))
    return rows


foundation, ours = names("Foundation"), names("FoundationRunLoop")
# A compiler that lists nothing is no success.
if len(foundation) < 100:
    sys.exit(f"Foundation has {len(foundation)} names: too few")
if missing := sorted(foundation - ours):
    sys.exit("missing: " + ", ".join(missing))
if unknown := sorted(set(DIFFERENCES) - ours):
    sys.exit("differences of names that are not there: " + ", ".join(unknown))
rows = refused()

print("# Every Name\n\nEach name that Foundation has for run loops, timers, ports and notification queues, and what differs.\n")
print("## Overview\n")
print("The script `Tests/Spellings/census-foundation` generates this page from what the compiler knows of both modules. An empty last")
print("column means: the same as on Apple's systems. Names of Core Foundation, such as `CFRunLoopGetCurrent`, come with this")
print("module too: the page *Every name* of [CoreFoundationRunLoop](/documentation/corefoundationrunloop) has them.\n")
shown = {name for name in ours if not DERIVED.search("." + name)}
for one in TYPES:
    print(f"### {one}\n\n| Name | What differs |\n| --- | --- |")
    for name in sorted(name for name in shown if name.split(".")[0] == one):
        new = "" if name in foundation or one == "MessagePort" else "Not in Foundation on Linux."
        print(f"| `{name}` | {DIFFERENCES.get(name, new)} |")
    print()
print("### Not there\n\nThe compiler refuses each use of these names, with the sentence of the last column.\n")
print("| Name | Why, and what to use |\n| --- | --- |")
for name, sentence in rows:
    print(f"| `{name}` | {sentence} |")
print(
    f"→ {len(foundation)} of {len(foundation)} names of Foundation on Linux, {len(shown)} in the table; {len(rows)} of Apple's"
    " refused with a sentence", file=sys.stderr)
