// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Adds an event source to `mode`, or to all common modes, also to modes that are marked as common later.
    ///
    /// A source is in one loop at most, in any number of its modes. Adding a source twice is the same as adding it
    /// once.
    ///
    /// - Returns: Whether the source is in `mode` now. `false` if the source is invalid, or if the loop's thread has
    ///   ended.
    /// - Throws: the error of the system: `EBADF` for a descriptor that is not open, `EMFILE`, `ENFILE`, `ENOMEM` and
    ///   `ENOSPC` when a resource of the system is used up.
    ///
    /// Corresponds to `CFRunLoopAddSource`.
    /// Thread safety: any thread.
    /// - Precondition: the source's closure may run on this loop's thread, and the source is in no other loop.
    /// - Complexity: O(1) and one system call.
    @discardableResult
    public func add(_ source: EventSource, in mode: Mode) throws(SystemCallError) -> Bool {
        try source.add(to: self, in: mode)
    }

    /// Removes an event source from `mode`, or, with `.common`, from all common modes if it was added to them.
    ///
    /// The source stays as it is and can be added again, to this loop or to another.
    /// Corresponds to `CFRunLoopRemoveSource`.
    /// Thread safety: any thread.
    public func remove(_ source: EventSource, from mode: Mode) { source.remove(from: self, in: mode) }

    /// Whether `source` is in `mode`, or, for `.common`, was added to the common modes.
    ///
    /// Corresponds to `CFRunLoopContainsSource`.
    /// Thread safety: any thread.
    public func contains(_ source: EventSource, in mode: Mode) -> Bool { source.isIn(self, mode) }
}
