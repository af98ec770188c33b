// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The five tools that look at a loop, and their results.
let whoLooks = Picture(
    name: "who-looks", title: "Who looks at a loop",
    description:
        "The loop's own thread notes what it does for a recording, a metering and a watch. Another thread of the "
        + "process looks for hangs, and another answers the command-line tool. Each arrow leads to what you get: a page, "
        + "numbers, log lines, a report, a live view.",
    content: .column(
        [
            .lane(
                "own", title: "noted on the loop's own thread",
                .column(
                    [
                        tool("Recording", "the last events", ["a page, JSON for", "Perfetto, the doctor"]),
                        tool("Metering", "counts", ["numbers for a report", "or swift-metrics"]),
                        tool("Watch", "limits for callouts", ["slow callouts, ends of", "runs, for swift-log"]),
                    ], gap: 14)),
            .lane(
                "other", title: "looked at by another thread",
                .column(
                    [
                        tool("HangWatch", "a limit for each loop", ["what hangs and why,", "with the stack"]),
                        tool("Inspector", "answers on a socket", ["runloop ps, dump, top,", "trace: in a terminal"]),
                    ], gap: 14)),
        ], gap: 20),
    arrows: ["Recording", "Metering", "Watch", "HangWatch", "Inspector"].map { Arrow(from: $0, to: "\($0)Result") })

private func tool(_ name: String, _ does: String, _ result: [String]) -> Block {
    .row(
        [.box(name, .told, [.name(name), .note(does)]), .box("\(name)Result", .plain, result.map(Line.note))], gap: 44)
}

/// The same code in real and in virtual time.
let twoKernels = Picture(
    name: "two-kernels", title: "The same loop in virtual time",
    description:
        "The code under test uses the same loop on Linux and in a test. On Linux the clocks go on by themselves. In a "
        + "test the manual kernel's clock moves when the test advances it: an advance by 3600 seconds fires a timer of 60 "
        + "seconds 60 times, each time at its own instant, without waiting.",
    content: .column(
        [
            .box("code", .work, [.name("your code"), .code("RunLoop.current")]),
            .box("loop", .told, [.name("RunLoop"), .note("the same, line by line")]),
            .row(
                [
                    .box(
                        "linux", .plain,
                        [.name("the kernel of Linux"), .note("clocks go on,"), .note("descriptors become ready")]),
                    .box(
                        "manual", .look, [.name("the manual kernel"), .note("both, when"), .note("the test says so")]),
                ], gap: 20),
            .lane(
                "advance", title: "a test advances by one hour",
                .column(
                    [
                        .text([.code("manual.advance(by: .seconds(3600))")]),
                        .row(
                            ["60 s", "120 s", "180 s", "…", "3540 s", "3600 s"].map { .box($0, .work, [.note($0)]) },
                            gap: 10),
                        .text([
                            .note("A timer of 60 seconds fires 60 times, each time"),
                            .note("at its own instant. No thread waits."),
                        ]),
                    ], gap: 14)),
        ], gap: 36),
    arrows: [
        Arrow(from: "code", to: "loop"), Arrow(from: "loop", to: "linux"),
        Arrow(from: "loop", to: "manual"), Arrow(from: "manual", to: "advance", hasTip: false),
    ])

/// The main thread of a test runner, without and with the module.
let mainThreadOfTests = Picture(
    name: "main-thread-of-tests", title: "The main thread of a test runner",
    description:
        "Without the module, Swift Testing gives its main thread to libdispatch, which ends it, and no timer of the "
        + "main loop fires. With the module, the main thread runs the main loop with its timers, the main queue and the main "
        + "actor. A test with the trait mainRunLoop begins on Swift's threads once the main loop runs.",
    content: .column(
        [
            .lane(
                "without", title: "a test target without the module",
                .row(
                    [
                        .box(
                            "gone", .plain,
                            [.name("the main thread"), .note("libdispatch ends it:"), .note("no main timer fires")]),
                        .box("tests", .work, [.name("Swift's threads"), .note("run the tests")]),
                    ], gap: 24)),
            .lane(
                "with", title: "a test target with the module",
                .row(
                    [
                        .box(
                            "main", .work,
                            [
                                .name("the main thread"), .note("runs RunLoop.main:"), .note("timers, main queue,"),
                                .note("main actor"),
                            ]),
                        .box(
                            "begun", .work,
                            [
                                .name("Swift's threads"), .code("@Test(.mainRunLoop)"), .note("begins once the"),
                                .note("main loop runs"),
                            ]),
                    ], gap: 44)),
        ], gap: 20),
    arrows: [Arrow(from: "main", to: "begun")])
