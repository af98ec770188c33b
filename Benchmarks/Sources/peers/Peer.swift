// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A program that runs the workloads on one loop.
struct Peer: Sendable {
    let name: String
    /// The executable, beside the driver's own.
    let program: String
    /// Arguments beside the run's: which of the program's ways of working.
    var arguments: [String] = []
    /// A loop written by hand: not a competitor but the limit of what is possible.
    var isLimit = false
    /// The kinds of runs it takes part in; nil for all.
    var only: Set<String>?
}

extension Peer {
    static let ours = Peer(name: "ours", program: "peer-ours")

    static let all: [Peer] = [ours] + limits + libraries

    private static let limits: [Peer] = [
        raw("raw", nil, nil),
        raw("raw edge", "variant=edge", ["W1", "S"]),
        raw("raw futex", "variant=futex", ["W1", "S"]),
        raw("raw slack", "variant=slack", ["W5", "W6", "W6b", "S"]),
        raw("raw timerfd", "variant=timerfd", ["W5", "W6", "W6b", "S"]),
        raw("raw ms", "variant=ms", ["W5t"]),
        Peer(name: "empty Swift", program: "start-empty", isLimit: true, only: ["W10", "W10s"]),
        Peer(name: "empty Swift + 1 ms", program: "start-empty", isLimit: true, only: ["W10", "W10s"]),
    ]

    private static let libraries: [Peer] = [
        Peer(name: "libuv", program: "peer-libuv"),
        Peer(name: "libev", program: "peer-libev"),
        Peer(name: "libevent", program: "peer-libevent"),
        Peer(
            name: "libevent precise", program: "peer-libevent", arguments: ["variant=precise"],
            only: ["W5", "W6", "W6b"]),
        Peer(name: "GLib", program: "peer-glib"),
        Peer(name: "NIO", program: "peer-nio"),
        Peer(name: "dispatch", program: "peer-dispatch"),
        Peer(name: "CFRunLoop", program: "peer-corefoundation"),
        Peer(name: "Foundation", program: "start-foundation", only: ["W10", "W10s"]),
    ]

    private static func raw(_ name: String, _ argument: String?, _ only: Set<String>?) -> Peer {
        Peer(name: name, program: "peer-raw", arguments: argument.map { [$0] } ?? [], isLimit: true, only: only)
    }

    func takesPart(in run: Run) -> Bool {
        (only?.contains(run.kind) ?? true) && (run.among?.contains(name) ?? true)
    }
}
