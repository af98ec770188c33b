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
        for (number, descriptor) in descriptors {
            require(
                number > STDERR_FILENO,
                "A child was given the descriptor \(number) by number: name it as input, output or error.")
            streams.give(descriptor, as: number)
        }
        let program = try SpawnProgram(executable, arguments, environment, directory)
        let (process, file) = try program.start(&streams, group, limits)
        return Child(process, file, OwnGroup(group), standardInput, standardOutput, standardError)
    }
}
