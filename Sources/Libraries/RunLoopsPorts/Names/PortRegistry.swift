// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The names that ports of this process have published: a sender in the same process needs no socket.
enum PortRegistry {
    private struct Key: Hashable {
        let name: PortName
        let directory: RunLoop.MessagePort.Directory.Identity
    }

    private static let queues = PerProcess { Guarded<[Key: MessageQueue]>([:]) }

    static func find(_ name: PortName, _ directory: RunLoop.MessagePort.Directory) -> MessageQueue? {
        let key = Key(name: name, directory: directory.identity)
        return queues.own.withLock { $0[key] }
    }

    static func set(_ queue: MessageQueue?, _ name: PortName, _ directory: RunLoop.MessagePort.Directory) {
        let key = Key(name: name, directory: directory.identity)
        let old = queues.own.withLock { queues -> MessageQueue? in
            let old = queues[key]
            queues[key] = queue
            return old
        }
        withExtendedLifetime(old) {}
    }
}
