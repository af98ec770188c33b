// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// The names of what tasks wait for in calls of this package, kept while a tool wants them.
///
/// The runtime knows that a task waits for a continuation. Only the code that has made the continuation knows that it stands for
/// a timer or for the end of a child.
package enum TaskWaits {
    /// The number of tools that want the names.
    private static let tools = Atomic<Int>(0)
    private static let names = PerProcess { Guarded<[UInt: String]>([:]) }

    /// Keeps the names of waits that begin from now on, until as many calls of ``release()``.
    package static func retain() { tools.wrappingAdd(1, ordering: .relaxed) }

    /// Ends what ``retain()`` has begun.
    package static func release() { tools.wrappingSubtract(1, ordering: .relaxed) }

    /// Whether a tool wants the names: a load, for the callers of ``begin(_:)``.
    @inline(__always)
    package static var areWanted: Bool { tools.load(ordering: .relaxed) > 0 }

    /// Records what the calling task is about to wait for.
    ///
    /// - Returns: The task's address, for ``end(_:)``; 0 outside a task.
    @inline(never)
    package static func begin(_ name: String) -> UInt {
        let address = withUnsafeCurrentTask { task in
            // SAFETY: a task that runs is a reference to the runtime's object; only its address is taken.
            task.map { UInt(bitPattern: unsafeBitCast($0, to: UnsafeRawPointer.self)) } ?? 0
        }
        if address != 0 { names.own.withLock { $0[address] = name } }
        return address
    }

    /// Ends the wait that ``begin(_:)`` has recorded.
    @inline(never)
    package static func end(_ address: UInt) {
        names.own.withLock { _ = $0.removeValue(forKey: address) }
    }

    /// The names by the addresses of the tasks that wait.
    package static var present: [UInt: String] { names.own.withLock { $0 } }
}
