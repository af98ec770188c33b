internal import RunLoops

/// The pending requests that were made for a target, so that all of them can be cancelled.
final class PerformRegistry<Request: AnyObject & Sendable>: @unchecked Sendable {
    private let lock = Lock()
    // Guarded by the lock. A request holds its target, so that the target's identity stays its own meanwhile.
    @exclusivity(unchecked) private var requests: [ObjectIdentifier: [ObjectIdentifier: Request]] = [:]

    func add(_ request: Request, _ target: ObjectIdentifier) {
        lock.withLock { requests[target, default: [:]][ObjectIdentifier(request)] = request }
    }

    func remove(_ request: Request, _ target: ObjectIdentifier) {
        lock.withLock {
            requests[target]?[ObjectIdentifier(request)] = nil
            if requests[target]?.isEmpty == true { requests[target] = nil }
        }
    }

    func requests(for target: ObjectIdentifier) -> [Request] {
        lock.withLock { requests[target].map { Array($0.values) } ?? [] }
    }
}
