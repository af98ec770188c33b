// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import RunLoops
internal import Synchronization

/// The closures that wait for a target, in the order in which they run.
///
/// Thread safety: any thread.
final class PerformRequests: Sendable {
    /// Identifies a request.
    struct Number: Equatable, Sendable { fileprivate let value: UInt64 }

    private struct Request {
        let number: Number
        let target: ObjectIdentifier
        let order: Int
        /// The modes in which the closure may run; empty for a request that waits for a timer.
        let modes: [RunLoops.RunLoop.Mode]
        let block: @Sendable () -> Void
        var timer: RunLoops.RunLoop.Timer?
    }

    private struct State {
        var last: UInt64 = 0
        var waiting: [Request] = []
    }

    private let state = Mutex(State())

    @discardableResult
    func add(
        _ target: AnyObject, _ order: Int, _ modes: [RunLoop.Mode], _ block: @escaping @Sendable () -> Void
    ) -> Number {
        let (target, modes) = (ObjectIdentifier(target), modes.map(\.native))
        return state.withLock { state in
            state.last += 1
            let request = Request(
                number: Number(value: state.last), target: target, order: order, modes: modes, block: block)
            let place = state.waiting.firstIndex { $0.order > order } ?? state.waiting.endIndex
            state.waiting.insert(request, at: place)
            return request.number
        }
    }

    func set(_ timer: RunLoops.RunLoop.Timer, of number: Number) {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return }
            state.waiting[index].timer = timer
        }
    }

    /// Runs the first waiting request that may run in the loop's mode; does nothing if all have been cancelled.
    func performFirst(in loop: RunLoops.RunLoop) {
        guard let mode = loop.currentMode else { return }
        let isCommon = loop.commonModes.contains(mode)
        take { $0.modes.contains(mode) || isCommon && $0.modes.contains(.common) }?.block()
    }

    func perform(_ number: Number) { take { $0.number == number }?.block() }

    private func take(where condition: (Request) -> Bool) -> Request? {
        state.withLock { state in
            state.waiting.firstIndex(where: condition).map { state.waiting.remove(at: $0) }
        }
    }

    func cancel(_ target: AnyObject) {
        let target = ObjectIdentifier(target)
        let cancelled = state.withLock { state in
            let all = state.waiting
            state.waiting.removeAll { $0.target == target }
            return all.filter { $0.target == target }
        }
        // The closures die here, with no lock held.
        for request in cancelled { request.timer?.invalidate() }
    }
}
#endif
