// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC

extension Child {
    /// Starts a program in a new process.
    ///
    /// When the call returns, the child runs the program: every error of the start is thrown here. The child has only
    /// the descriptors that the parameters name, even if others are not close-on-exec. Its signals are neither blocked
    /// nor ignored nor handled, whatever they are in this process.
    ///
    /// The thread waits until the child executes the program, usually less than a millisecond; longer only for a
    /// program on a slow file system, or a named pipe that nobody has opened. The memory of this process is
    /// not copied, and the handlers of `pthread_atfork` do not run.
    ///
    /// The child gets all texts as UTF-8. Names of files need not be UTF-8: open such a file, and pass the descriptor in
    /// `descriptors` as 3 and the path `/dev/fd/3` as an argument.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: What the program gets after its name.
    ///   - environment: The variables that the program sees.
    ///   - directory: The child's working directory; this process's own if `nil`.
    ///   - input: Where standard input comes from.
    ///   - output: Where standard output goes.
    ///   - error: Where standard error goes.
    ///   - descriptors: Further descriptors of this process, by the numbers that they have in the child, from 3 on.
    ///   - group: The child's process group or session.
    ///   - limits: What the child may use.
    /// - Returns: The child, which is running.
    /// - Throws: The step that failed: `ENOENT` at `execute` for a program that does not exist, `EACCES` for a file
    ///   that is not executable, `EMFILE` at `pipe`, `EAGAIN` at `clone` when the user has too many processes, `EINTR`
    ///   if a signal such as `SIGQUIT` ends the child before the program begins, `EPERM` if a filter of system calls does
    ///   so by `SIGSYS`, and other errors of the system.
    ///
    /// Corresponds to `Process.run()` of Foundation and `posix_spawn(3)`.
    /// Thread safety: any thread.
    /// - Precondition: `output` is not combined with itself; `descriptors` has numbers from 3 on.
    /// - Complexity: O(n) in the arguments and variables; some 90 system calls.
    public static func spawn(
        _ executable: Executable, arguments: [String] = [], environment: Environment = .inherited,
        directory: String? = nil, input: Input = .inherited, output: Output = .inherited, error: Output = .inherited,
        descriptors: [CInt: CInt] = [:], group: Group = .inherited, limits: [Limit] = []
    ) throws(SpawnError) -> Child {
        Orphans.reap()
        var streams = SpawnStreams()
        let standardInput = try streams.take(input)
        let standardOutput = try streams.take(output, as: STDOUT_FILENO)
        let standardError = try streams.take(error, as: STDERR_FILENO)
        streams.give(descriptors)
        let program = try SpawnProgram(executable, arguments, environment, directory)
        let (process, file) = try program.start(&streams, group, limits)
        return Child(process, file, OwnGroup(group), standardInput, standardOutput, standardError)
    }

    /// Starts a program in a new terminal: in a new session whose controlling terminal it is, with the terminal as
    /// standard input, output and error.
    ///
    /// ``Child/terminal`` changes the size, ``Child/standardOutput`` is what the terminal shows and
    /// ``Child/standardInput`` what is typed. The controlling side does not block, and is not inherited by other children.
    /// The terminal begins with the settings of a new one: lines can be edited, input is echoed, and is UTF-8.
    ///
    /// The program shows what `TERM` in its environment says that the terminal understands. A program that shows nothing
    /// but text sets `dumb`.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: What the program gets after its name.
    ///   - environment: The variables that the program sees.
    ///   - directory: The child's working directory; this process's own if `nil`.
    ///   - size: The size that the terminal has at first.
    ///   - descriptors: Further descriptors of this process, by the numbers that they have in the child, from 3 on.
    ///   - limits: What the child may use.
    /// - Returns: The child, which is running.
    /// - Throws: The step that failed: `EMFILE` at `terminal` when this process has no descriptor left, `ENOSPC` when the
    ///   system has no terminal left (`kernel.pty.max`), `ENOENT` where `/dev/ptmx` is missing; and the errors of the
    ///   other `spawn`. After an error no descriptor and no process is left.
    ///
    /// Corresponds to `forkpty(3)`. Thread safety: any thread.
    /// - Precondition: `descriptors` has numbers from 3 on.
    /// - Complexity: O(n) in the arguments and variables; some 100 system calls.
    public static func spawn(
        _ executable: Executable, arguments: [String] = [], environment: Environment = .inherited,
        directory: String? = nil, terminal size: Terminal.Size, descriptors: [CInt: CInt] = [:], limits: [Limit] = []
    ) throws(SpawnError) -> Child {
        Orphans.reap()
        var streams = SpawnStreams()
        let terminal = try streams.makeTerminal(size)
        streams.give(descriptors)
        let program = try SpawnProgram(executable, arguments, environment, directory)
        let (process, file) = try program.start(&streams, .newSession, limits, terminal: terminal)
        return Child(process, file, OwnGroup(.newSession), terminal.input, terminal.output, nil, terminal: terminal)
    }
}
