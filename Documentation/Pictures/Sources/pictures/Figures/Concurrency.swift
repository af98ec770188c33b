// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A task waits for an actor on a loop's executor, and a timer's fires are elements for another task.
let taskAndLoop = Picture(
    name: "task-and-loop", title: "A task and a loop",
    description:
        "A task that calls an actor on the loop's executor waits without a thread. The call is a job that wakes the "
        + "loop; a turn of the loop runs up to 64 jobs, the urgent first, and then looks at everything else. The task goes on "
        + "afterwards. In the other direction, a timer that fires on the loop's thread is an element of a sequence that a task "
        + "goes through.",
    content: .column(
        [
            .lane(
                "swift", title: "Swift's threads",
                .row(
                    [
                        .box("call", .plain, [.name("a task"), .code("await add(…)"), .note("no thread waits")]),
                        .box("on", .plain, [.name("the task"), .note("goes on")]),
                        .box("each", .plain, [.name("a task"), .code("for await …"), .code("in ticks(…)")]),
                    ], gap: 26)),
            .lane(
                "loop", title: "the loop's thread",
                .column(
                    [
                        .row(
                            [
                                .box(
                                    "sleeps", .sleep,
                                    [.name("sleeps"), .note("while there is"), .note("nothing to do")]),
                                .box(
                                    "jobs", .work, [.name("jobs run"), .note("up to 64,"), .note("the urgent first")]),
                                .box("rest", .work, [.name("timers, …"), .note("as in"), .note("every turn")]),
                            ], gap: 26),
                        .text([.note("the next turn")]),
                    ], gap: 30)),
        ], gap: 66),
    arrows: [
        Arrow(from: "call", to: "on", isDashed: true),
        Arrow(from: "call", to: "loop", label: ["a job:", "it wakes"]),
        Arrow(from: "jobs", to: "on", label: ["the result"]),
        Arrow(from: "rest", to: "each", label: ["an element"], at: 0.3),
        Arrow(from: "sleeps", to: "jobs"), Arrow(from: "jobs", to: "rest"),
        Arrow(from: "rest", to: "sleeps", detour: .below),
    ])

/// The main actor of an async main: alone, with the adopted main loop, with the executor of this package.
let mainActor = Picture(
    name: "main-actor", title: "Who runs the main actor of an async main",
    description:
        "Under an async main alone, the main thread has ended; the main actor's jobs are work of the main queue on a "
        + "thread of libdispatch, and no timer of the main loop fires. After RunLoop.adoptMain() the main thread runs the main "
        + "loop, which serves the main queue with the main actor's jobs. In a program that is linked with RunLoopsMainActor, "
        + "the main actor's jobs run on the main loop's executor, beside the main queue.",
    content: .column(
        [
            .lane(
                "alone", title: "an async main alone",
                .row(
                    [
                        .box(
                            "ended", .plain,
                            [.name("the main thread"), .note("has ended: no timer of"), .note("the main loop fires")]),
                        .box(
                            "dispatch", .look,
                            [.name("a libdispatch thread"), .note("main queue, with the"), .note("main actor's jobs")]),
                    ], gap: 28)),
            .lane(
                "adopted", title: "with RunLoop.adoptMain()",
                .row(
                    [
                        .box(
                            "adoptedMain", .work,
                            [.name("the main thread"), .note("runs RunLoop.main:"), .note("timers, sources")]),
                        .box(
                            "adoptedQueue", .look,
                            [.name("the main queue"), .note("its own work and"), .note("the main actor's jobs")]),
                    ], gap: 28)),
            .lane(
                "linked", title: "linked with RunLoopsMainActor",
                .row(
                    [
                        .box(
                            "linkedMain", .work,
                            [.name("the main thread"), .note("runs RunLoop.main:"), .note("timers, sources")]),
                        .column(
                            [
                                .box("linkedQueue", .look, [.name("the main queue"), .note("its own work")]),
                                .box(
                                    "executor", .told,
                                    [.name("its executor"), .note("the main actor's jobs,"), .note("the urgent first")]),
                            ], gap: 14),
                    ], gap: 28)),
        ], gap: 18),
    arrows: [
        Arrow(from: "adoptedQueue", to: "adoptedMain"), Arrow(from: "linkedQueue", to: "linkedMain"),
        Arrow(from: "executor", to: "linkedMain"),
    ])
