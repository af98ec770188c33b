// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// Calls a closure on a loop's thread when the file at a path changes, whichever file is there.
///
/// Files with settings are replaced by a rename, logs are rotated, and both may not be there yet. A follower follows
/// the path through all of this: another file is renamed over the old one, the file is removed and recreated, its
/// directories are created, removed and recreated.
///
/// The follower looks at the file when the kernel says that something happened, and reports the difference: a file that
/// is removed and recreated between two turns has been ``Change/replaced``. A report describes the present state. Make
/// the follower before you read the file: then no change is missed.
///
/// A follower has a kernel watch for the file and for each directory on the way. All watches and followers of a thread
/// share one descriptor of the kernel (inotify), of which a user has 128 by default, and so do all that
/// `sendable` makes. While the file exists, changes of other files do not wake the loop for the follower: the kernel
/// reports the end of each part of the path by itself. While the file is missing, the loop wakes, without a
/// call, when a name is added to or removed from the last directory that exists; and if that directory is empty, also
/// when a name is removed from the directory above it or renamed into that. Names in control groups, in `/sys`, on NFS,
/// and beside a directory on the way that may not be read always wake the loop: there the kernel reports the end of a
/// part only to those who watch the directory above.
///
/// If the path leads through a link to another directory, the file there is followed through replacements by a rename,
/// and through each change of the link; if it is removed and recreated, the new file is not noticed.
///
/// For everything in a directory, use a ``FileWatch``.
///
/// Thread safety: all members may be used by any thread.
public final class FileFollower: EventSource, @unchecked Sendable {
    /// Called with the follower and what happened.
    typealias Handler = (FileFollower, Change) -> Void

    private let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private var handler: Handler?
    @exclusivity(unchecked) private var followed: FollowedPath
    /// The changes that were found and not reported yet.
    @exclusivity(unchecked) private var pending: [Change] = []
    // Set by init, and not changed after it.
    private let user: WatchUser
    private let window: Duration
    /// Closes the window; `nil` without a window.
    @exclusivity(unchecked) private var windowTimer: RunLoop.Timer?

    /// A follower whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - path: The path of the file; neither the file nor its directories need exist. A relative path begins in the
    ///     present working directory of this process.
    ///   - moment: When the contents of the file count as changed.
    ///   - window: How long changes are collected; zero to report them at once. The first change opens the window, and
    ///     its end reports the difference, so that the loop wakes twice, however often the file is written. The window
    ///     may last a tenth longer, to join another wake-up.
    ///   - label: The name in descriptions and tools; where the follower was made, if `nil`.
    ///   - fileID: Where the follower was made.
    ///   - line: Where the follower was made.
    ///   - handler: Called with the follower and what happened since the last time.
    /// - Throws: `EMFILE` if the user or the process has too many descriptors, `ENOSPC` if the user's limit of watches
    ///   (`max_user_watches`) is reached, `EACCES` if the file or its directory may not be read, `EINVAL` if the path
    ///   contains a zero byte.
    ///
    /// Adding the follower to the loop of another thread traps.
    /// - Complexity: O(n) in the directories of the path.
    public convenience init(
        _ path: String, when moment: Moment = .written, coalescing window: Duration = .zero, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping (FileFollower, Change) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(path, moment, window, .here(label, fileID, line), handler)
    }

    /// A follower whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:when:coalescing:label:fileID:line:handler:)``.
    public static func sendable(
        _ path: String, when moment: Moment = .written, coalescing window: Duration = .zero, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @Sendable (FileFollower, Change) -> Void
    ) throws(RunLoop.SystemCallError) -> FileFollower {
        try FileFollower(path, moment, window, .anywhere(label, fileID, line), handler)
    }

    /// A follower whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:when:coalescing:label:fileID:line:handler:)``.
    public static func mainActor(
        _ path: String, when moment: Moment = .written, coalescing window: Duration = .zero, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @MainActor (FileFollower, Change) -> Void
    ) throws(RunLoop.SystemCallError) -> FileFollower {
        try FileFollower(path, moment, window, .mainThread(label, fileID, line)) { follower, change in
            MainActor.assumeIsolated { handler(follower, change) }
        }
    }

    private init(
        _ path: String, _ moment: Moment, _ window: Duration, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        let user = try WatchHub.makeUser(for: origin.allowedThread)
        defer { user.informUsers() }
        followed = try FollowedPath(path, user, moment)
        self.user = user
        self.handler = handler
        self.window = window
        super.init(user.file, for: .readable, origin)
        user.whenInformed { [weak self] in self?.callReadyUnlessCollecting() }
        if window > .zero {
            windowTimer = origin.restingTimer("window", tolerance: window / 10) { [weak self] in self?.closeWindow() }
        }
    }

    /// The path, as the program gave it.
    public var path: String { state.withLock { followed.path } }

    /// Whether the file existed when the follower last looked: when it was made, or when it last reported.
    public var isPresent: Bool { state.withLock { followed.isPresent } }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        // A call that was made for records of before: the window has opened since.
        if windowTimer != nil, watched.isEmpty { return }
        let isWorthALook = note(fromKernel: events.contains(.readable))
        // Inside a handler that runs the loop: what was found before it was called comes first, and does not wait.
        if state.withLock({ !pending.isEmpty }) { return report() }
        guard isWorthALook else { return }
        guard let windowTimer else { return report() }
        // Until the window closes the kernel collects, and the loop sleeps.
        watched = []
        windowTimer.restart(after: window)
    }

    private func closeWindow() {
        // Before the records are read: another follower that reads later ones then calls this one. And before the
        // handler is called, which may invalidate the follower.
        watched = .readable
        _ = note(fromKernel: true)
        report()
    }

    /// Reports what has changed since the last look.
    ///
    /// Changes wait in `pending`, and not in this call: a run that is nested in the handler reports what is left before
    /// it reports something newer.
    private func report() {
        state.withLock { pending += followed.look() }
        user.informUsers()
        while let (handler, change, isLast) = takePending() {
            if !isLast { callReady() }
            handler(self, change)
        }
    }

    private func takePending() -> (Handler, FileFollower.Change, isLast: Bool)? {
        state.withLock {
            guard let handler, !pending.isEmpty else { return nil }
            return (handler, pending.removeFirst(), pending.isEmpty)
        }
    }

    private func note(fromKernel: Bool) -> Bool {
        guard isValid else { return false }
        let isWorthALook = state.withLock { followed.note(user.read(fromKernel: fromKernel)) }
        user.informUsers()
        return isWorthALook
    }

    /// Has the loop read records that another watch or follower has taken from the kernel.
    private func callReadyUnlessCollecting() {
        if !watched.isEmpty { callReady() }
    }

    override func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {
        if let windowTimer { loop.add(windowTimer, in: mode) }
        if user.hasUnreported { callReadyUnlessCollecting() }
    }

    override func left(_ mode: RunLoop.Mode, of loop: RunLoop) {
        if let windowTimer { loop.remove(windowTimer, from: mode) }
    }

    override func refused(_ error: RunLoop.SystemCallError) {}

    override func giveUp() {
        let released = state.withLock { () -> Handler? in
            defer { (handler, pending) = (nil, []) }
            return handler
        }
        user.leave()
        windowTimer?.invalidate()
        withExtendedLifetime(released) {}
    }
}
