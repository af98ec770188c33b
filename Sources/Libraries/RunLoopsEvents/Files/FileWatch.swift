// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// Calls a closure on a loop's thread with the changes to files and directories.
///
/// A path that is a directory is watched with its entries. A recursive watch also watches all directories below, also
/// directories that are made later. Entries that are in a new directory before it can be watched are reported as
/// created, once. The two halves of a move within the watched paths are reported as one event. Links below a watched
/// directory are not followed.
///
/// A watch has one kernel watch for each path and directory, of which a user has many thousands. All watches and
/// followers of a thread share one descriptor of the kernel (inotify), of which a user has 128 by default, and so do all
/// that `sendable` makes. For many paths make one `FileWatch`, not many: each change lets every watch of the loop look
/// for changes of its own.
///
/// Names of files are bytes, and need not be UTF-8: see ``File/pathBytes``.
///
/// Where a burst of changes is one change to the program, give the watch a coalescing window, or call a
/// `RunLoop.Debouncer` of `RunLoopsKit` from the closure. A window reports at its end, even if changes continue. A
/// debouncer waits until there has been no change for a while, and several sources can call it.
///
/// A file system that is mounted over a watched directory hides the directory, and the kernel does not say so. When a
/// file system inside a watched tree is unmounted, its directory is reported as removed, and the directory that becomes
/// visible as created.
///
/// Corresponds to `FSEvents` of Apple's platforms, file by file and without a history.
///
/// Thread safety: all members may be used by any thread.
public final class FileWatch: EventSource, @unchecked Sendable {
    /// Called with the watch and what happened, in order; never with an empty list.
    typealias Handler = (FileWatch, [Event]) -> Void

    private let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private var handler: Handler?
    @exclusivity(unchecked) private var tree: WatchTree
    /// What is reported when the window closes.
    @exclusivity(unchecked) private var waiting: [Event] = []
    // Set by init, and not changed after it.
    private let user: WatchUser
    private let window: Duration
    /// Closes the window; `nil` without a window.
    @exclusivity(unchecked) private var windowTimer: RunLoop.Timer?

    /// A watch whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// Changes are collected from now on, also before the watch is added to a loop.
    ///
    /// - Parameters:
    ///   - paths: What to watch. To follow a file that is replaced by another file, use a ``FileFollower``.
    ///   - changes: The changes to report.
    ///   - recursive: Whether directories in directories are watched.
    ///   - exclusion: The names of entries that are neither watched nor reported, such as `[".git", ".build"]`.
    ///   - window: How long changes are collected. With zero, each turn reports its changes. Otherwise the first change
    ///     opens the window, and all changes until its end are reported together, in order; of equal events, such as
    ///     the writes to one file, only the last. The loop wakes at the beginning and at the end, however much is
    ///     changed in between. The window may last a tenth longer, to join another wake-up.
    ///   - label: The name in descriptions and tools; where the watch was made, if `nil`.
    ///   - fileID: Where the watch was made.
    ///   - line: Where the watch was made.
    ///   - handler: Called with the watch and what happened since the last time, in order.
    /// - Throws: `EMFILE` if the user or the process has too many descriptors; and for a path, what ``insert(_:)``
    ///   throws.
    ///
    /// Adding the watch to the loop of another thread traps.
    /// - Complexity: O(n) in the paths and, if recursive, in the files below them.
    public convenience init(
        _ paths: [String], for changes: Changes = .standard, recursive: Bool = false,
        excluding exclusion: Exclusion = .none,
        coalescing window: Duration = .zero,
        label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping (FileWatch, [Event]) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(paths, changes, recursive, exclusion, window, .here(label, fileID, line), handler)
    }

    /// A watch whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:for:recursive:excluding:coalescing:label:fileID:line:handler:)``.
    public static func sendable(
        _ paths: [String], for changes: Changes = .standard, recursive: Bool = false,
        excluding exclusion: Exclusion = .none,
        coalescing window: Duration = .zero,
        label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @Sendable (FileWatch, [Event]) -> Void
    ) throws(RunLoop.SystemCallError) -> FileWatch {
        try FileWatch(paths, changes, recursive, exclusion, window, .anywhere(label, fileID, line), handler)
    }

    /// A watch whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:for:recursive:excluding:coalescing:label:fileID:line:handler:)``.
    public static func mainActor(
        _ paths: [String], for changes: Changes = .standard, recursive: Bool = false,
        excluding exclusion: Exclusion = .none,
        coalescing window: Duration = .zero,
        label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, handler: @escaping @MainActor (FileWatch, [Event]) -> Void
    ) throws(RunLoop.SystemCallError) -> FileWatch {
        try FileWatch(paths, changes, recursive, exclusion, window, .mainThread(label, fileID, line)) { watch, events in
            MainActor.assumeIsolated { handler(watch, events) }
        }
    }

    private init(
        _ paths: [String], _ changes: Changes, _ recursive: Bool, _ exclusion: Exclusion, _ window: Duration,
        _ origin: SourceOrigin, _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        let user = try WatchHub.makeUser(for: origin.allowedThread)
        defer { user.informUsers() }
        var tree = WatchTree(WatchSystem(user), isRecursive: recursive, changes: changes, excluding: exclusion)
        for path in paths { try tree.insert(SystemText(path, for: "inotify_add_watch")) }
        self.tree = tree
        self.handler = handler
        self.window = window
        self.user = user
        super.init(user.file, for: .readable, origin)
        user.whenInformed { [weak self] in self?.callReadyUnlessCollecting() }
        if window > .zero {
            windowTimer = origin.restingTimer("window", tolerance: window / 10) { [weak self] in self?.closeWindow() }
        }
    }

    // MARK: Paths

    /// Watches another path as well; does nothing if the path is watched already.
    ///
    /// A relative path begins in the present working directory of this process. Directories below the path that cannot
    /// be watched are reported in the next turn: ``Event/unwatched(_:_:)``.
    ///
    /// - Throws: `ENOENT` if there is nothing at the path, `EACCES` if it may not be read, `EEXIST` if it is watched
    ///   under another path, `ENOSPC` if the user's limit of watches (`max_user_watches`) is reached, `EINVAL` if the
    ///   path contains a zero byte.
    ///
    /// Thread safety: any thread; waits while a change is being worked out.
    public func insert(_ path: String) throws(RunLoop.SystemCallError) { try insert(bytes: Array(path.utf8)) }

    /// Watches a path that need not be UTF-8, such as ``File/pathBytes``.
    ///
    /// Otherwise as ``insert(_:)``.
    public func insert(bytes path: [UInt8]) throws(RunLoop.SystemCallError) {
        let path = try SystemText(path, for: "inotify_add_watch")
        defer { user.informUsers() }
        try state.withLock { () throws(RunLoop.SystemCallError) in
            if isValid { try tree.insert(path) }
        }
        reportRefusals()
    }

    /// Stops watching a path; does nothing if the path is not watched.
    ///
    /// Changes that the watch has not read from the kernel yet are not reported; changes that a coalescing window has
    /// collected are.
    /// Thread safety: any thread; waits while a change is being worked out.
    public func remove(_ path: String) { remove(bytes: Array(path.utf8)) }

    /// Stops watching a path that need not be UTF-8.
    ///
    /// Otherwise as ``remove(_:)``.
    public func remove(bytes path: [UInt8]) {
        guard let path = SystemText(path) else { return }
        state.withLock { tree.remove(path) }
        reportRefusals()
    }

    /// The paths that are watched, without the vanished paths, in alphabetical order.
    public var paths: [String] { state.withLock { tree.paths } }

    /// How many of the user's kernel watches this watch uses: one for each path, and each directory of a recursive
    /// watch.
    public var watchCount: Int { state.withLock { tree.watchCount } }

    /// Has the loop's next turn report what was refused, although the descriptor has nothing to read.
    private func reportRefusals() {
        user.informUsers()
        if state.withLock({ tree.hasEvents }) { callReady() }
    }

    /// Has the loop read records that another watch or follower has taken from the kernel.
    private func callReadyUnlessCollecting() {
        if !watched.isEmpty { callReady() }
    }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        // A call that was made for records of before: the window has opened since.
        if windowTimer != nil, watched.isEmpty { return }
        let (handler, events) = take(fromKernel: events.contains(.readable))
        if events.isEmpty { return }
        guard let windowTimer else {
            handler?(self, events)
            return
        }
        state.withLock { waiting += events }
        // Until the window closes the kernel collects, and the loop sleeps.
        watched = []
        windowTimer.restart(after: window)
    }

    private func closeWindow() {
        // Before the records are read: another watch that reads later ones then calls this one. And before the handler is
        // called, which may invalidate the watch.
        watched = .readable
        let (handler, later) = take(fromKernel: true)
        let events = state.withLock { () -> [Event] in
            defer { waiting = [] }
            return Self.withoutRepetitions(waiting + later)
        }
        if !events.isEmpty { handler?(self, events) }
    }

    /// What has happened since the last time.
    private func take(fromKernel: Bool) -> (Handler?, [Event]) {
        guard isValid else { return (nil, []) }
        let taken = state.withLock {
            tree.apply(user.readMoves(fromKernel: fromKernel))
            return (handler, tree.takeEvents())
        }
        user.informUsers()
        return taken
    }

    /// The events without those that come again later: what is left ends with the present state of each file.
    static func withoutRepetitions(_ events: [Event]) -> [Event] {
        var seen: Set<Event> = []
        return events.reversed().filter { seen.insert($0).inserted }.reversed()
    }

    override func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {
        if let windowTimer { loop.add(windowTimer, in: mode) }
        reportRefusals()
        if user.hasUnreported { callReadyUnlessCollecting() }
    }

    override func left(_ mode: RunLoop.Mode, of loop: RunLoop) {
        if let windowTimer { loop.remove(windowTimer, from: mode) }
    }

    override func refused(_ error: RunLoop.SystemCallError) {}

    override func giveUp() {
        let released = state.withLock { () -> (Handler?, WatchTree) in
            defer {
                handler = nil
                waiting = []
                tree = WatchTree(WatchSystem(nil), isRecursive: false, changes: [])
            }
            return (handler, tree)
        }
        user.leave()
        windowTimer?.invalidate()
        withExtendedLifetime(released) {}
    }
}
