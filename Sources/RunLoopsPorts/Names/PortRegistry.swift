internal import RunLoops

/// The names that ports of this process have published: a sender in the same process needs no socket.
enum PortRegistry {
    private struct Key: Hashable {
        let name: PortName
        let directory: PortDirectory.Identity
    }

    private final class Table: @unchecked Sendable {
        let lock = Lock()
        // Guarded by the lock.
        @exclusivity(unchecked) var queues: [Key: MessageQueue] = [:]
    }

    private static let table = Table()

    static func find(_ name: PortName, _ directory: PortDirectory) -> MessageQueue? {
        let key = Key(name: name, directory: directory.identity)
        return table.lock.withLock { table.queues[key] }
    }

    static func set(_ queue: MessageQueue?, _ name: PortName, _ directory: PortDirectory) {
        let key = Key(name: name, directory: directory.identity)
        let old = table.lock.withLock { () -> MessageQueue? in
            let old = table.queues[key]
            table.queues[key] = queue
            return old
        }
        withExtendedLifetime(old) {}
    }
}
