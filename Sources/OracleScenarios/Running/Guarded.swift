internal import RunLoops

/// A value of several threads, behind the library's own lock.
///
/// Not `Synchronization.Mutex`, into which the thread sanitizer does not see (Documentation/Decisions/0003-locks.md).
final class Guarded<Value>: @unchecked Sendable {
    private let lock = Lock()
    @exclusivity(unchecked) private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
