// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What is in a loop: modes with their items, and the common ones.
let modes = Picture(
    name: "modes", title: "Modes and common items",
    description:
        "A run loop has modes, and each mode has its own items. The default mode and the tracking mode are marked as "
        + "common; a private mode is not. A timer that is added to the common modes is in both marked modes. A timer that is "
        + "added to the default mode alone stands still while the loop runs in the tracking mode. A run is in one mode.",
    content: .column(
        [
            .box("common", .look, [.name("added to common"), .note("timer A: in each marked mode")]),
            .lane(
                "loop", title: "a run loop",
                .row(
                    [
                        .column(
                            [
                                .box("default", .work, [.name("default"), .note("common ✓")]),
                                .box("dA", .look, [.note("timer A")]), .box("dB", .plain, [.note("timer B")]),
                                .box("dS", .plain, [.note("source S")]),
                            ], gap: 12),
                        .column(
                            [
                                .box("tracking", .work, [.name("tracking"), .note("common ✓")]),
                                .box("tA", .look, [.note("timer A")]), .box("tE", .plain, [.note("events")]),
                                .box("tO", .plain, [.note("observer O")]),
                            ], gap: 12),
                        .column(
                            [
                                .box("private", .work, [.name("private"), .note("not common")]),
                                .box("pT", .plain, [.note("timer T")]), .box("pS", .plain, [.note("source S")]),
                                .space(height: 37),
                            ], gap: 12),
                    ], gap: 20)),
            .text([
                .note("A run is in one mode. Timer B stands still"),
                .note("while the loop runs in tracking; timer A goes on."),
            ]),
        ], gap: 34),
    arrows: [Arrow(from: "common", to: "loop", label: ["goes to each marked mode"])])

/// Which thread has which loop.
let threadsAndLoops = Picture(
    name: "threads-and-loops", title: "Threads and loops",
    description:
        "Each thread has at most one loop, and each loop belongs to one thread. The main thread's loop is RunLoop.main. "
        + "A thread that asks for RunLoop.current gets its loop at the first ask; the loop ends with the thread. A thread that "
        + "never asks has no loop. Any thread may add a block to another thread's loop and wake it up.",
    content: .column(
        [
            pair("main", "the main thread", loop: "RunLoop.main", notes: ["ends with the process"]),
            pair(
                "worker", "a thread that asks", loop: "RunLoop.current",
                notes: ["made at the first ask,", "ends with the thread"]),
            .lane(
                "other", title: "a thread that never asks",
                .row(
                    [
                        .box("otherThread", .plain, [.name("its code"), .note("runs and ends")]), .space(width: 118),
                        .box("none", .plain, [.note("no loop: a timer has"), .note("nowhere to fire")]),
                    ], gap: 0)),
        ], gap: 62),
    arrows: [
        Arrow(from: "mainThread", to: "mainLoop", label: ["run()"]),
        Arrow(from: "workerThread", to: "workerLoop", label: ["run()"]),
        Arrow(from: "worker", to: "main", label: ["perform { … }, wakeUp():", "from any thread"], at: 0.3),
        Arrow(from: "other", to: "worker", label: ["the same"], at: 0.3),
    ])

private func pair(_ id: String, _ title: String, loop: String, notes: [String]) -> Block {
    .lane(
        id, title: title,
        .row(
            [
                .box("\(id)Thread", .plain, [.name("its code"), .note("calls the loop")]), .space(width: 118),
                .box("\(id)Loop", .work, [.name(loop)] + notes.map(Line.note)),
            ], gap: 0))
}

/// From the touch to the picture, with the steps of the turns.
let eventPath = Picture(
    name: "event-path", title: "From the touch to the picture",
    description:
        "A touch makes a descriptor ready and wakes the thread. In step 9 a port source reads the event and signals a "
        + "source. In step 5 of the next turn this source hands the event to the application, which sends it to the window and "
        + "the responder. The responder changes a view, which is only marked. Before the sleep, in step 7, gestures are "
        + "resolved and what is marked is laid out and drawn once. The new picture is on the screen while the thread sleeps.",
    content: .column(
        [
            .box("touch", .plain, [.name("a finger, a mouse or a key"), .note("the system makes a descriptor ready")]),
            .lane(
                "first", title: "the turn that wakes",
                .box("port", .work, [.name("a port source"), .note("reads the event and signals a source")], number: 9)),
            .lane(
                "second", title: "the next turn",
                .column(
                    [
                        .box(
                            "queue", .work,
                            [.name("the signalled source"), .note("hands the event to the application")], number: 5),
                        .row(
                            [
                                .box("app", .plain, [.name("application")]), .box("window", .plain, [.name("window")]),
                                .box("responder", .plain, [.name("responder")]),
                            ], gap: 32),
                        .box("mark", .plain, [.name("a view changes"), .note("it is marked, not drawn")]),
                        .box(
                            "commit", .sleep,
                            [
                                .name("beforeWaiting"), .note("gestures are resolved, then layout and"),
                                .note("drawing of what is marked, once"),
                            ],
                            number: 7),
                    ], gap: 30)),
            .box("screen", .plain, [.name("the screen"), .note("shows the picture; the thread sleeps")]),
        ], gap: 30),
    arrows: [
        Arrow(from: "touch", to: "first"), Arrow(from: "first", to: "second"), Arrow(from: "queue", to: "app"),
        Arrow(from: "app", to: "window"), Arrow(from: "window", to: "responder"), Arrow(from: "responder", to: "mark"),
        Arrow(from: "mark", to: "commit"), Arrow(from: "second", to: "screen"),
    ])
