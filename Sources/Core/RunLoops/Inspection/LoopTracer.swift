// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Receives each event, on the loop's thread, with no lock held.
package protocol LoopTracer: AnyObject {
    func trace(_ event: LoopEvent)
}

/// Holds the tracer of a loop in a constant, so that the loop can read the tracer through an unmanaged reference to the
/// box, without reference counting.
final class TracerBox {
    let tracer: any LoopTracer
    init(_ tracer: any LoopTracer) { self.tracer = tracer }
}

/// The listeners that receive every new loop; usually there are none.
package enum NewLoops {
    private static let listeners = PerProcess {
        Guarded<[(owner: ObjectIdentifier, listener: @Sendable (RunLoop) -> Void)]>([])
    }

    /// Calls `listener` with each new loop, on the thread that makes the loop and before any other thread can use it.
    ///
    /// The calls end when ``remove(_:)`` is called with `owner`.
    package static func add(_ owner: AnyObject, _ listener: @escaping @Sendable (RunLoop) -> Void) {
        listeners.own.withLock { $0.append((ObjectIdentifier(owner), listener)) }
    }

    /// Stops calling the listener of `owner`.
    package static func remove(_ owner: AnyObject) {
        listeners.own.withLock { $0.removeAll { $0.owner == ObjectIdentifier(owner) } }
    }

    static func announce(_ loop: RunLoop) {
        for (_, listener) in listeners.made?.withLock({ $0 }) ?? [] { listener(loop) }
    }
}
