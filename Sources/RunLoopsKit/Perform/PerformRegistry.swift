internal import RunLoops

/// The pending requests that were made for a target, so that all of them can be cancelled.
final class PerformRegistry: @unchecked Sendable {
    static let shared = PerformRegistry()

    private let lock = Lock()
    // Guarded by the lock. A ticket holds its target, so that the target's identity stays its own meanwhile.
    @exclusivity(unchecked) private var tickets: [ObjectIdentifier: [ObjectIdentifier: PerformTicket]] = [:]

    func add(_ ticket: PerformTicket, _ target: ObjectIdentifier) {
        lock.withLock { tickets[target, default: [:]][ObjectIdentifier(ticket)] = ticket }
    }

    func remove(_ ticket: PerformTicket, _ target: ObjectIdentifier) {
        lock.withLock {
            tickets[target]?[ObjectIdentifier(ticket)] = nil
            if tickets[target]?.isEmpty == true { tickets[target] = nil }
        }
    }

    /// The requests for `target` that wait on `loop`.
    func tickets(for target: ObjectIdentifier, on loop: RunLoop) -> [PerformTicket] {
        lock.withLock { tickets[target]?.values.filter { $0.loop === loop } ?? [] }
    }
}
