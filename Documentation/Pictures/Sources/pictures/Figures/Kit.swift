// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The parts of the kit beside the steps in which they act.
let partsOfTheKit = Picture(
    name: "parts-of-the-kit", title: "Where the parts of the kit act in a turn",
    description:
        "On the left, the steps of a run: entry, blocks, beforeWaiting and the sleep, what woke the thread, blocks "
        + "again, exit. Beside each step, the parts that act there: a release pool opens at entry; performs, posted tasks and "
        + "notifications are blocks; before the sleep come idle notifications, commits, idle jobs and the emptying of release "
        + "pools, in this order; delayed performs, display links, debouncers, throttles and watchdogs are timers; at exit a "
        + "transaction commits and the pool closes.",
    content: .column(
        [
            step(1, .told, "entry", [], ["ReleasePool opens"]),
            step(
                4, .work, "blocks", ["and again in 10"],
                ["performRequest", "performAndWait", "tasks of a RunLoopThread", "NotificationQueue, soon"]),
            step(
                7, .sleep, "beforeWaiting", ["in this order,", "then it sleeps"],
                ["NotificationQueue, idle", "Transaction commits", "IdleQueue: some jobs", "ReleasePool releases"]),
            step(
                9, .work, "what woke it", ["timers"],
                ["performRequest, delayed", "DisplayLink", "Debouncer, Throttle", "WatchdogTimer"]),
            step(11, .told, "exit", [], ["Transaction commits", "ReleasePool closes"]),
            .text([.note("Steps in which no part acts are left out.")]),
        ], gap: 28),
    arrows: [
        Arrow(from: "1", to: "4"), Arrow(from: "4", to: "7"), Arrow(from: "7", to: "9"), Arrow(from: "9", to: "11"),
        Arrow(from: "9", to: "4", detour: .left),
    ] + [1, 4, 7, 9, 11].map { Arrow(from: "\($0)", to: "\($0)Parts", isDashed: true, hasTip: false) })

private func step(_ number: Int, _ kind: Kind, _ name: String, _ notes: [String], _ parts: [String]) -> Block {
    .row(
        [
            .space(width: 34),
            .box("\(number)", kind, [.name(name)] + notes.map(Line.note), number: number), .space(width: 26),
            .box("\(number)Parts", .plain, parts.map(Line.note)),
        ], gap: 0)
}
