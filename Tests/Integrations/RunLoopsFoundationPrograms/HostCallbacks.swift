// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops

/// A host on `poll(2)` with a descriptor of its own, whose callback gives work to loops and waits again.
@MainActor
private final class CallbackHost {
    private var polled: [pollfd]
    private let input: CInt
    private let output: CInt
    private let callback: () -> Void
    /// How often the host has waited, and how often nothing was ready for two seconds.
    private(set) var waits = 0
    private(set) var timeouts = 0

    init(_ callback: @escaping () -> Void) throws {
        var ends: [CInt] = [-1, -1]
        precondition(pipe(&ends) == 0)
        (input, output) = (ends[0], ends[1])
        polled = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0),
            pollfd(fd: try Ours.main.pollDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        self.callback = callback
    }

    /// Makes the host's own descriptor readable.
    func click() { precondition(write(output, "c", 1) == 1) }

    /// Waits once, and calls what is ready: its own callback last, after which nothing but the next question sees the gift.
    ///
    /// Returns without a wait if `isDone` holds before it.
    func iterate(milliseconds: CInt = 2000, until isDone: () -> Bool = { false }) {
        while Ours.main.prepareToPoll() { Ours.main.runReady() }
        if isDone() { return }
        waits += 1
        let count = poll(&polled, nfds_t(polled.count), milliseconds)
        if count == 0 { timeouts += 1 }
        if count > 0, polled[1].revents != 0 { Ours.main.runReady() }
        if count > 0, polled[0].revents != 0 {
            var byte: UInt8 = 0
            precondition(read(input, &byte, 1) == 1)
            callback()
        }
    }
}

/// Work that a callback of the host gives away, without a wake-up of its own.
@MainActor
private let gifts: [(name: String, give: (Said) -> Void)] = [
    ("perform", { said in Theirs.main.perform { said("perform") } }),
    ("asap", { said in post(.asap, "asap", said) }),
    ("whenIdle", { said in post(.whenIdle, "whenIdle", said) }),
    (
        "timer",
        { said in _ = Foundation.Timer.scheduledTimer(withTimeInterval: 0, repeats: false) { _ in said("timer") } }
    ),
    ("task", { said in Task { @MainActor in said("task") } }),
    ("block", { said in Ours.main.perform(wake: false) { said("block") } }),
]

@MainActor private var observed: [String: any NSObjectProtocol] = [:]

@MainActor
private func post(_ style: NotificationQueue.PostingStyle, _ word: String, _ said: Said) {
    let name = Notification.Name(word)
    if observed[word] == nil {
        observed[word] = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
            said(word)
        }
    }
    NotificationQueue.default.enqueue(Notification(name: name), postingStyle: style)
}

/// Each gift is served before the host waits again, and an idle host waits without end.
@MainActor
func playHostCallbacks() throws {
    let said = Said()
    for (name, give) in gifts {
        let host = try CallbackHost { give(said) }
        var lost = 0
        for round in 1...10 {
            host.click()
            // A gift that was lost may be served later, in another round.
            let timeouts = host.timeouts
            while said.count(name) < round, host.timeouts == timeouts { host.iterate { said.count(name) >= round } }
            lost += host.timeouts - timeouts
        }
        print("\(name): \(lost) of 10 late or lost")
    }
    let host = try CallbackHost {}
    // What the last gift left for the loops.
    for _ in 0..<3 { host.iterate(milliseconds: 20) }
    let (waits, timeouts) = (host.waits, host.timeouts)
    host.iterate(milliseconds: 500)
    print("idle: \(host.waits - waits) wait, \(host.timeouts > timeouts ? "to its end" : "ended early")")
}
