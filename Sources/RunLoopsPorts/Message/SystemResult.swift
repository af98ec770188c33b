internal import RunLoops

/// Results of system calls, where a negative number is an error number.
enum SystemResult {
    @discardableResult
    static func check(_ call: String, _ result: CInt) throws(RunLoop.SystemCallError) -> CInt {
        if result < 0 { throw RunLoop.SystemCallError(call: call, code: -result) }
        return result
    }
}

/// Traps with a text that names the state and the remedy, in release builds too, where `precondition` says nothing.
@inline(__always)
func require(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { fatalError(text()) }
}

/// Time limits as deadlines of the monotonic clock.
enum Deadline {
    /// Not to wait at all.
    static let none = Int64.min
    /// To wait for ever.
    static let never = Int64.max

    static func after(_ limit: Duration?) -> Int64 {
        guard let limit else { return never }
        let nanoseconds = limit.clampedNanoseconds
        return nanoseconds <= 0 ? none : SystemCalls.now(.monotonic).clampedAdding(nanoseconds)
    }
}
