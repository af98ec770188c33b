// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

/// Calls a closure on a loop's thread when a process has ended, once.
///
/// The source waits for a descriptor of that one process (a pidfd), and for nothing else: it does not reap the children
/// of other code, it leaves `SIGCHLD` alone, and a number that is given to another process does no harm. The source
/// reaps a child when it reports the child's end, unless it was made to leave that to other code, which may learn of
/// the end first. The source is invalidated before its callout.
///
/// A source that is invalidated before the end, or whose loop does not run, reaps nothing: the code that started the
/// child then has to wait for it. A ``Child`` reaps itself in that case.
///
/// Children of Foundation's `Process` belong to that object, which waits for them: make the source with `reaps: false`,
/// because a `Process` whose child others have reaped reports a wrong status. Before Linux 6.15 the `Process` may be
/// faster, and then the status is `unknown`.
///
/// Needs Linux 5.4. The kernel has pidfds since 5.3, and waits for a child by its pidfd since 5.4. On 5.3 the source
/// reports the end with an unknown status, and does not reap the child.
///
/// Corresponds to a process source of Dispatch, which Linux does not have.
///
/// Thread safety: all members may be used by any thread.
public final class ChildSource: EventSource, EndingSource, @unchecked Sendable {
    /// Called with the source and how the process ended.
    typealias Handler = (ChildSource, Exit) -> Void

    /// The number of the process.
    public let process: CInt
    private let reaps: Bool
    private let child: Child?
    let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private(set) var handler: Handler?

    /// A source whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - process: The number of the process: a child that no code has waited for yet, ended or not. Any other process
    ///     is allowed, but its status is unknown.
    ///   - reaps: Whether the source takes the child's status from the kernel. `false` for children that other code
    ///     waits for, such as swift-subprocess: if that code is faster, the status is unknown.
    ///   - label: The name in descriptions and tools; where the source was made, if `nil`.
    ///   - fileID: Where the source was made.
    ///   - line: Where the source was made.
    ///   - handler: Called with the source and how the process ended.
    /// - Throws: `ESRCH` if there is no such process, `EINVAL` for a number that cannot be one, `ENOSYS` before Linux
    ///   5.3 (no pidfds), `EMFILE`, `ENFILE` and `ENOMEM` when a resource of the system is used up.
    ///
    /// Adding the source to the loop of another thread traps.
    public convenience init(
        _ process: CInt, reaps: Bool = true, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (ChildSource, Exit) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(process, reaps, .here(label, fileID, line), handler)
    }

    /// A source of a child that ``Child/spawn(_:arguments:environment:directory:input:output:error:descriptors:group:limits:)``
    /// has made; its closure runs on the thread that makes the source, and may use that thread's state.
    ///
    /// A child may have several sources, each of which is called. A source keeps its child.
    ///
    /// - Parameters:
    ///   - child: The child, which may have ended.
    ///   - label: The name in descriptions and tools; where the source was made, if `nil`.
    ///   - fileID: Where the source was made.
    ///   - line: Where the source was made.
    ///   - handler: Called with the source and how the child ended.
    public convenience init(
        _ child: Child, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (ChildSource, Exit) -> Void
    ) {
        self.init(child, .here(label, fileID, line), handler)
    }

    /// A source whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:reaps:label:fileID:line:handler:)``.
    public static func sendable(
        _ process: CInt, reaps: Bool = true, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (ChildSource, Exit) -> Void
    ) throws(RunLoop.SystemCallError) -> ChildSource {
        try ChildSource(process, reaps, .anywhere(label, fileID, line), handler)
    }

    /// A source of a child whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:label:fileID:line:handler:)``.
    public static func sendable(
        _ child: Child, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (ChildSource, Exit) -> Void
    ) -> ChildSource {
        ChildSource(child, .anywhere(label, fileID, line), handler)
    }

    /// A source whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:reaps:label:fileID:line:handler:)``.
    public static func mainActor(
        _ process: CInt, reaps: Bool = true, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (ChildSource, Exit) -> Void
    ) throws(RunLoop.SystemCallError) -> ChildSource {
        try ChildSource(process, reaps, .mainThread(label, fileID, line)) { source, exit in
            MainActor.assumeIsolated { handler(source, exit) }
        }
    }

    /// A source of a child whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:label:fileID:line:handler:)``.
    public static func mainActor(
        _ child: Child, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (ChildSource, Exit) -> Void
    ) -> ChildSource {
        ChildSource(child, .mainThread(label, fileID, line)) { source, exit in
            MainActor.assumeIsolated { handler(source, exit) }
        }
    }

    private init(_ child: Child, _ origin: SourceOrigin, _ handler: @escaping Handler) {
        process = child.process
        reaps = true
        self.child = child
        self.handler = handler
        super.init(child.file, for: .readable, origin)
    }

    private init(
        _ process: CInt, _ reaps: Bool, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        let file = Descriptor(try check("pidfd_open", rl_pidfd_open(process), of: "of process \(process)"))
        self.process = process
        self.reaps = reaps
        child = nil
        self.handler = handler
        super.init(file, for: .readable, origin)
    }

    /// Sends the process a signal.
    ///
    /// The signal reaches this process or none: never another process that has received the number since.
    ///
    /// - Throws: `ESRCH` if the process has ended and was waited for, or the source is invalidated; `EPERM` if the
    ///   caller may not send it signals; `EINVAL` if there is no such signal.
    ///
    /// Thread safety: any thread.
    public func send(_ signal: CInt) throws(RunLoop.SystemCallError) {
        try check("pidfd_send_signal", withDescriptor { rl_pidfd_signal($0, signal) } ?? -ESRCH)
    }

    override func ready(_ events: Events) {
        // No exit is to be expected of a readable pidfd; if it happens, the kernel reports the end again.
        guard let file = descriptor, let exit = child?.exit ?? Exit(process, waitingFor: file, reaps: reaps) else {
            return
        }
        end(with: exit)
    }

    override func refused(_ error: RunLoop.SystemCallError) {}

    override func giveUp() {
        let released = state.withLock { () -> Handler? in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(released) {}
    }
}
