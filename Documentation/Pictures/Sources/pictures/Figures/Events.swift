// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Five kinds of sources that end the sleep of one thread.
let eventSources = Picture(
    name: "event-sources", title: "Event sources",
    description:
        "Five kinds of sources, for descriptors, signals, child processes, files and sockets, end the sleep of one "
        + "loop's thread. The loop serves one ready descriptor a turn, and calls the closure of its source on its own thread.",
    content: .column(
        [
            .column(
                [
                    event("ready", ["a descriptor is ready"], "DescriptorSource", ["of RunLoops"]),
                    event("signal", ["a signal arrives"], "SignalSource"),
                    event("child", ["a child process ends"], "ChildSource"),
                    event("file", ["a file changes"], "FileWatch"),
                    event(
                        "socket", ["a client connects,", "bytes come"], "SocketListener",
                        ["SocketConnector,", "SocketStream"]),
                ], gap: 14),
            .lane(
                "thread", title: "the loop's thread",
                .row(
                    [
                        .box("sleeps", .sleep, [.name("sleeps"), .note("until a source"), .note("is ready")]),
                        .box("looks", .look, [.name("looks"), .note("one descriptor"), .note("a turn")]),
                        .box("calls", .work, [.name("calls"), .note("your closure")]),
                    ], gap: 30)),
        ], gap: 44),
    arrows: ["ready", "signal", "child", "file", "socket"].map { Arrow(from: $0, to: "\($0)Source") } + [
        Arrow(from: "socketSource", to: "thread", under: ["wakes the thread"]),
        Arrow(from: "sleeps", to: "looks"), Arrow(from: "looks", to: "calls"),
    ])

private func event(_ id: String, _ happens: [String], _ source: String, _ notes: [String] = []) -> Block {
    .row(
        [
            .box(id, .plain, happens.map(Line.note)),
            .box("\(id)Source", .told, [.name(source)] + notes.map(Line.note)),
        ], gap: 60)
}

/// The way of a message from threads and from processes.
let messagePorts = Picture(
    name: "message-ports", title: "A message port",
    description:
        "Threads of the process send through the port's sender; other processes, by default of the same user, send "
        + "through a socket under the port's name. Messages wait in a bounded queue. While the loop runs in a mode of the port, "
        + "it calls the port's closure with them on its own thread. What the closure returns goes back as the reply.",
    content: .column(
        [
            .row(
                [
                    .lane(
                        "process", title: "this process",
                        .box("sender", .told, [.name("Sender"), .note("on any thread")])),
                    .lane(
                        "another", title: "another process",
                        .box("remote", .told, [.name("Sender"), .note("by the port's name")])),
                ], gap: 24),
            .box("port", .look, [.name("MessagePort"), .note("a bounded queue: first in, first out")]),
            .lane(
                "thread", title: "the loop's thread",
                .column(
                    [
                        .box(
                            "closure", .work,
                            [.name("your closure"), .note("called with each message, in the port's modes")]),
                        .text([.note("What it returns goes back to the sender.")]),
                    ], gap: 12)),
        ], gap: 52),
    arrows: [
        Arrow(from: "process", to: "port", label: ["a message"], at: 0.25),
        Arrow(from: "port", to: "process", label: ["the reply"], isDashed: true, at: 0.7),
        Arrow(from: "another", to: "port", label: ["a socket"], at: 0.25),
        Arrow(from: "port", to: "another", label: ["the reply"], isDashed: true, at: 0.7),
        Arrow(from: "port", to: "thread", at: 0.4), Arrow(from: "thread", to: "port", isDashed: true, at: 0.6),
    ])
