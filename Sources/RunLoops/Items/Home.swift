/// Traps if a closure that may hold state of one thread is about to go to another's loop.
///
/// - Parameters:
///   - home: The one thread whose loop may take the item, by the kernel's number; 0 for any.
///   - item: What has the closure.
///   - thread: That of the loop.
@inline(__always)
package func requireHome(_ home: Int32, of item: some CustomStringConvertible, in thread: Int32) {
    if home != 0, home != thread { fatalError(wrongHome(home, item, thread)) }
}

@inline(never)
private func wrongHome(_ home: Int32, _ item: some CustomStringConvertible, _ thread: Int32) -> String {
    """
    \(item) was made for the run loop of thread \(home) and cannot be added to that of thread \(thread), \
    because its closure may use that thread's state. Make it with .sendable(…) if its closure may run on any \
    thread, or add it on the thread it belongs to.
    """
}
