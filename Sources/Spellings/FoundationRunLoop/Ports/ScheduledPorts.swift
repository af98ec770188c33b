// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation
internal import Synchronization

/// The ports of a loop, each with the modes that the port was added to.
///
/// Thread safety: any thread.
final class ScheduledPorts: @unchecked Sendable {
    private struct Entry {
        let port: Port
        var modes: Set<RunLoop.Mode>
        let invalidation: any NSObjectProtocol
    }

    private let lock = NSLock()
    /// Guarded by the lock.
    private var entries: [ObjectIdentifier: Entry] = [:]

    /// Adds a port to a mode; returns whether the mode is new for the port.
    func add(_ port: Port, _ mode: RunLoop.Mode) -> Bool {
        lock.withLock {
            if let isNew = entries[ObjectIdentifier(port)]?.modes.insert(mode).inserted { return isNew }
            guard port.isValid else { return false }
            let id = ObjectIdentifier(port)
            let invalidation = NotificationCenter.default.addObserver(
                forName: Port.didBecomeInvalidNotification, object: port, queue: nil
            ) { [weak self] _ in self?.drop(id) }
            entries[id] = Entry(port: port, modes: [mode], invalidation: invalidation)
            return true
        }
    }

    /// Removes a port from a mode; returns whether the port was in the mode.
    func remove(_ port: Port, _ mode: RunLoop.Mode) -> Bool {
        let id = ObjectIdentifier(port)
        let (wasThere, isLast) = lock.withLock {
            let wasThere = entries[id]?.modes.remove(mode) != nil
            return (wasThere, wasThere && entries[id]?.modes.isEmpty == true)
        }
        if isLast { drop(id) }
        return wasThere
    }

    private func drop(_ id: ObjectIdentifier) {
        // The port may die with the entry: with no lock held.
        let entry = lock.withLock { entries.removeValue(forKey: id) }
        if let entry { NotificationCenter.default.removeObserver(entry.invalidation) }
    }

    /// Called when the loop's thread has ended.
    deinit {
        for entry in entries.values { NotificationCenter.default.removeObserver(entry.invalidation) }
    }
}
#endif
