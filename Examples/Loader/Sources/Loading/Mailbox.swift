// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import Synchronization

/// Brings values to one loop: other threads put them in and signal a source, the loop's thread takes them out.
final class Mailbox<Value: Sendable>: @unchecked Sendable {
    private let values = Mutex<[Value]>([])
    private let source: RunLoop.Source
    private let loop = RunLoop.current
    /// Called on the loop's thread with all values since the last call; set before the first value is put in.
    var receive: ([Value]) -> Void = { _ in }

    /// A mailbox of the calling thread's loop.
    init(in modes: [RunLoop.Mode]) {
        let wayBack = WayBack<Value>()
        source = RunLoop.Source.sendable(label: "mailbox") { _ in
            if let mailbox = wayBack.mailbox { mailbox.receive(mailbox.takeAll()) }
        }
        wayBack.set(self)
        for mode in modes { loop.add(source, in: mode) }
    }

    deinit { source.invalidate() }

    /// Nothing is received any more.
    func invalidate() {
        source.invalidate()
        receive = { _ in }
    }

    /// Any thread.
    func put(_ value: Value) {
        values.withLock { $0.append(value) }
        source.signal()
        loop.wakeUp()
    }

    private func takeAll() -> [Value] {
        values.withLock { values in
            defer { values = [] }
            return values
        }
    }
}

/// The way from the source to its mailbox, which is made after it.
private final class WayBack<Value: Sendable>: Sendable {
    private struct Weak { weak var mailbox: Mailbox<Value>? }
    private let reference = Mutex(Weak())

    var mailbox: Mailbox<Value>? { reference.withLock { $0.mailbox } }
    func set(_ mailbox: Mailbox<Value>) { reference.withLock { $0.mailbox = mailbox } }
}
