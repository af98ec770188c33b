// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsSystem

/// A descriptor in reserve, for all published ports of the process together.
///
/// When the process has no number left, a port gives the reserve up to accept and close a connection, which would otherwise keep its
/// loop awake. A port that finds the reserve in use by another thread looks again later, as one does whose process had none.
final class SpareDescriptor: Sendable {
    private struct WeakSpare { weak var spare: SpareDescriptor? }
    private static let present = PerProcess { Guarded(WeakSpare()) }

    private let kept: Guarded<PrivateDescriptor?>

    private init(_ descriptor: PrivateDescriptor?) { kept = Guarded(descriptor) }

    /// The reserve of this process, which the ports keep; made for the first of them.
    static var shared: SpareDescriptor {
        if let spare = present.own.withLock({ $0.spare }) { return spare }
        // Outside of the lock, as each call of the system; the other thread's is used if there are two.
        let made = SpareDescriptor(reserve())
        return present.own.withLock { present in
            if let spare = present.spare { return spare }
            present.spare = made
            return made
        }
    }

    /// Calls `body` when the process can open one more descriptor, unless another thread is faster, and reserves one again.
    func whileFree<Result>(_ body: () -> Result) -> Result {
        // Closes it.
        _ = kept.withLock { $0.take() }
        let result = body()
        var next = Self.reserve()
        // If two threads have reserved one, the older is closed, outside of the lock.
        if next != nil { kept.withLock { swap(&$0, &next) } }
        return result
    }

    /// Opens a descriptor of no use but its number; `nil` if there is none.
    private static func reserve() -> PrivateDescriptor? {
        let number = rl_eventfd_create()
        return number < 0 ? nil : PrivateDescriptor(adopting: number)
    }
}
