// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

/// Identifies the process that made an object, among a process, its parents and its children by `fork()`.
///
/// An object that represents a resource of the kernel, of the file system or of a thread stores the generation in which
/// it was made. In a forked child the object is inherited: the child shares the kernel's object with its parent, and
/// must not use it (Documentation/Decisions/0040-a-child-leaves-alone.md).
package struct ForkGeneration: Sendable {
    private let forks = rl_fork_count()

    /// Makes the generation of the calling process.
    package init() {}

    /// Whether a parent of the calling process made the object.
    package var isInherited: Bool { forks != rl_fork_count() }
}

/// Holds an object of which each process has its own: a forked child makes its object at the first use.
///
/// The parent's object stays in the child's memory, untouched: it may be half changed, or locked, by a thread that the
/// child does not have.
package final class PerProcess<Object: AnyObject & Sendable>: Sendable {
    private final class Box: Sendable {
        let generation = ForkGeneration()
        let object: Object
        init(_ object: Object) { self.object = object }
    }

    /// The address of the newest box, or 0 before the first box is made; a box is never released.
    private let current = Atomic<UInt>(0)
    private let making = Lock()
    private let make: @Sendable () -> Object

    /// Makes a holder whose object `make` makes, once in each process.
    package init(_ make: @escaping @Sendable () -> Object) { self.make = make }

    /// The calling process's object.
    package var own: Object { made ?? makeOwn() }

    /// The calling process's object; `nil` if the process has not made it yet.
    var made: Object? {
        // acquiring: pairs with the release in makeOwn, after which the object is complete.
        guard let pointer = UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring)) else { return nil }
        // SAFETY: makeOwn has retained a reference that is never released.
        let box = Unmanaged<Box>.fromOpaque(pointer).takeUnretainedValue()
        return box.generation.isInherited ? nil : box.object
    }

    private func makeOwn() -> Object {
        making.withLock {
            if let made { return made }
            let box = Unmanaged.passRetained(Box(make()))
            current.store(UInt(bitPattern: box.toOpaque()), ordering: .releasing)
            return box.takeUnretainedValue().object
        }
    }
}
