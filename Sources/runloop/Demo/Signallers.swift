// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Who signalled the source, in order; the source's perform takes them all.
///
/// Signals before a perform collapse into one, so what must not be lost is kept beside the source.
final class Signallers: Sendable {
    private let senders = Mutex<[Sender]>([])

    /// Call before `signal()`: the source's perform then finds who signalled.
    func add(_ sender: Sender) { senders.withLock { $0.append(sender) } }

    /// All of them, and none the next time.
    func takeAll() -> [Sender] {
        senders.withLock { senders in
            defer { senders = [] }
            return senders
        }
    }
}
