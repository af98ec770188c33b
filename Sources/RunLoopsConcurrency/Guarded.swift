internal import RunLoops

/// A value that several threads use, one at a time.
// Unchecked: the lock is what makes it safe to share.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = Lock()
    @exclusivity(unchecked) private var value: Value

    init(_ value: Value) { self.value = value }

    @inline(__always)
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }
}
