// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension RunLoop {
    /// An item of a run loop: a timer, a source, a descriptor source or an observer.
    ///
    /// Thread safety: all members may be used by any thread. The item's closure runs on the loop's thread.
    public class Item: @unchecked Sendable, CustomStringConvertible {
        // Ordered so that the fields leave no gaps: a program may have many items.
        let labelStorage: ItemLabel
        private let valid = Atomic<Bool>(true)
        /// The one thread to whose loop the item may be added, by the kernel's number; 0 for any.
        let allowedThread: Int32

        init(label: ItemLabel, allowedThread: Int32) {
            labelStorage = label
            self.allowedThread = allowedThread
        }

        /// The item's name in descriptions and tools: its label, or the line that made it.
        public final var label: String { labelStorage.text }

        /// Whether the item can still fire.
        ///
        /// Once `false`, the value never becomes `true` again.
        public final var isValid: Bool {
            // acquiring: a thread that finds the item invalid also sees all earlier changes of it.
            valid.load(ordering: .acquiring)
        }

        /// Removes the item from every loop and mode permanently, and releases its closure.
        ///
        /// The call is allowed everywhere, also inside the item's own callout, which ends normally. A second call does
        /// nothing. Corresponds to `CFRunLoopTimerInvalidate` and the same calls of the other kinds. Thread safety: any
        /// thread; the call does not wait for a callout under way on the loop's thread.
        public func invalidate() { fatalError("every kind of item says how it leaves its loops") }

        /// Describes the item's kind, label and state in one line; says "in no loop" of a valid item that is in no mode.
        public var description: String { "<RunLoop.Item \(label)>" }

        /// Makes the item invalid.
        ///
        /// Called with the lock held that guards the item's modes: a thread that adds the item checks its validity with
        /// the same lock held.
        final func markInvalid() { valid.store(false, ordering: .releasing) }

        // MARK: What a loop asks of its items

        /// Makes the loop the item's owner, if the item can be in one loop only; returns false if another loop has it.
        ///
        /// The call may take the lock of another loop: not within an access to a loop's state.
        func claim(for loop: LoopLock.Pointer) -> Bool { true }

        /// Whether the item's owner is still this loop; always true for an item that can be in several loops.
        func belongs(to loop: LoopLock.Pointer) -> Bool { true }

        /// The kind of the item, for tools.
        var kind: LoopEvent.Callee { fatalError("every kind of item has a name") }
    }
}

/// Where an item's closure may run, as the number of a thread.
enum AllowedThread {
    static var anyThread: Int32 { 0 }
    static var currentThread: Int32 { SystemCalls.threadID }
    static var mainThread: Int32 { SystemCalls.mainThreadID }
}

/// Traps if a closure that may hold state of one thread would be added to another thread's loop.
///
/// - Parameters:
///   - allowedThread: The one thread to whose loop the item may be added, by the kernel's number; 0 for any.
///   - item: The item with the closure.
///   - thread: The loop's thread.
package func requireAllowedThread(_ allowedThread: Int32, of item: some CustomStringConvertible, in thread: Int32) {
    if allowedThread != 0, allowedThread != thread { fatalError(wrongThread(allowedThread, item, thread)) }
}

private func wrongThread(_ allowedThread: Int32, _ item: some CustomStringConvertible, _ thread: Int32) -> String {
    """
    \(item) was made for the run loop of thread \(allowedThread) and cannot be added to the loop of thread \(thread), \
    because its closure may use the state of thread \(allowedThread). Make it with .sendable(…) if its closure may run on any \
    thread, or add it on the thread it belongs to.
    """
}
