// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

extension Child {
    /// The terminal of a child that was spawned with one, as a terminal program sees it.
    ///
    /// ``Child/standardOutput`` is what the child shows, ``Child/standardInput`` is what is typed: an ``InputReader`` and
    /// an ``OutputWriter`` serve them, and neither makes the loop wait.
    ///
    /// The input ends when no process has the terminal open any more. Linux says `EIO` then, which readers report as the
    /// end. A process that the child has left behind may keep the terminal open after the child's end.
    ///
    /// The terminal exists as long as this process has a part of it: one of the two files, a reader or a writer. When the
    /// last is released, the kernel sends `SIGHUP` to the child, as when the window of a terminal is closed.
    ///
    /// Corresponds to the descriptor that `forkpty(3)` returns.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Terminal: Sendable, CustomStringConvertible {
        /// The number of columns and rows of a terminal.
        public struct Size: Hashable, Sendable, CustomStringConvertible {
            /// The number of columns.
            public var columns: UInt16
            /// The number of rows.
            public var rows: UInt16
            /// The width in pixels; 0 if it is unknown.
            public var width: UInt16
            /// The height in pixels; 0 if it is unknown.
            public var height: UInt16

            /// Makes a size.
            ///
            /// - Parameters:
            ///   - columns: The number of columns.
            ///   - rows: The number of rows.
            ///   - width: The width in pixels, of which programs that show pictures make use.
            ///   - height: The height in pixels.
            public init(columns: UInt16, rows: UInt16, width: UInt16 = 0, height: UInt16 = 0) {
                self.columns = columns
                self.rows = rows
                self.width = width
                self.height = height
            }

            /// Columns and rows, such as `80×24`.
            public var description: String { "\(columns)×\(rows)" }

            init(_ size: rl_terminal_size) {
                self.init(columns: size.columns, rows: size.rows, width: size.width, height: size.height)
            }

            var systemSize: rl_terminal_size {
                rl_terminal_size(columns: columns, rows: rows, width: width, height: height)
            }
        }

        /// The path of the terminal, such as `/dev/pts/3`, as `tty` prints it.
        public let path: String
        let input, output: RunLoop.File

        init(_ file: Descriptor, number: CInt) {
            path = "/dev/pts/\(number)"
            input = RunLoop.File(file)
            output = RunLoop.File(file)
        }

        /// Returns the size that programs on the terminal see now.
        ///
        /// - Throws: `EBADF` after ``close()``.
        public func size() throws(RunLoop.SystemCallError) -> Size {
            var size = rl_terminal_size()
            try call("TIOCGWINSZ") { rl_terminal_size_get($0, &size) }
            return Size(size)
        }

        /// Changes the size; the kernel sends `SIGWINCH` to the group in the foreground if it is another one.
        ///
        /// - Parameter size: The new size.
        /// - Throws: `EBADF` after ``close()``.
        public func resize(to size: Size) throws(RunLoop.SystemCallError) {
            var size = size.systemSize
            try call("TIOCSWINSZ") { rl_terminal_size_set($0, &size) }
        }

        /// Sends the signal of a key to the group in the foreground, whether or not the program has turned that key off.
        ///
        /// The kernel finds the group: no other receives the signal. Nothing happens if no group is in the foreground.
        ///
        /// - Parameter signal: `SIGINT` (Ctrl-C), `SIGQUIT` (Ctrl-\\) or `SIGTSTP` (Ctrl-Z).
        /// - Throws: `EINVAL` for another signal, `EBADF` after ``close()``.
        public func sendToForeground(_ signal: CInt) throws(RunLoop.SystemCallError) {
            try call("TIOCSIG") { rl_terminal_signal($0, signal) }
        }

        /// The number of the process group in the foreground: the shell's, or that of the job it waits for; `nil` if the
        /// terminal has no session any more, and after ``close()``.
        public var foregroundGroup: CInt? {
            guard let file = usable else { return nil }
            defer { withExtendedLifetime(file) {} }
            let group = rl_terminal_foreground(file.number)
            return group > 0 ? group : nil
        }

        /// Releases the child's ``Child/standardInput`` and ``Child/standardOutput``: the terminal is closed as soon as no
        /// reader and no writer uses it, and the kernel sends `SIGHUP` to the child then.
        ///
        /// A second call does nothing. To read what the child writes at its end, and to end a child that ignores `SIGHUP`,
        /// call ``Child/terminate(killAfter:on:in:)`` first.
        public func close() {
            input.close()
            output.close()
        }

        /// The path, and the size if the terminal is open.
        public var description: String {
            guard let size = try? size() else { return "<Child.Terminal \(path)>{closed}" }
            return "<Child.Terminal \(path)>{\(size)}"
        }

        /// A forked child leaves its parent's terminal alone.
        private var usable: Descriptor? {
            guard let file = output.file ?? input.file, !file.generation.isInherited else { return nil }
            return file
        }

        private func call(_ name: String, _ body: (CInt) -> CInt) throws(RunLoop.SystemCallError) {
            let file = usable
            defer { withExtendedLifetime(file) {} }
            try check(name, file.map { body($0.number) } ?? -EBADF, of: "of \(path)")
        }
    }
}

// MARK: The jobs of a shell

extension Child {
    /// The signal that asks the child to end.
    ///
    /// With a terminal it is the one that the end of a window sends: interactive shells ignore `SIGTERM`.
    var askingSignal: CInt { terminal == nil ? SIGTERM : SIGHUP }

    /// Sends a signal to the jobs that this process has seen in the terminal's foreground, and that are not the child's
    /// own group; returns whether one of their processes is left.
    ///
    /// The kernel knows a job by a number alone, which another group can have later. Therefore each process is looked at:
    /// the number of their session is the child's, and not another's while the child is not reaped.
    func signalJobs(_ signal: CInt) -> Bool {
        guard let terminal else { return false }
        let foreground = terminal.foregroundGroup
        let jobs = noteJob(foreground == process ? nil : foreground)
        if jobs.isEmpty { return false }
        return withOwnNumber { rl_signal_groups($0, Array(jobs), jobs.count, signal) > 0 } ?? false
    }

    /// Whether a process of the child's group, or of a job, is left.
    ///
    /// With jobs, a child that has ended and is not reaped does not count: its number is kept for their sake.
    var hasMembers: Bool {
        let jobs = noteJob(nil)
        if jobs.isEmpty { return signalAll(0) != -ESRCH }
        return withOwnNumber { rl_signal_groups($0, Array(jobs) + [process], jobs.count + 1, 0) > 0 } ?? false
    }
}
