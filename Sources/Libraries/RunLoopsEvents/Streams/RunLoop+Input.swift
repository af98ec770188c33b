// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsConcurrency

// Input, output and the ends of children, for tasks.
extension RunLoop {
    /// Returns a sequence of the lines of a file.
    ///
    /// ```swift
    /// for try await line in try loop.lines(of: .standardInput) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - file: What to read. No other code should read from it.
    ///   - limit: How many bytes a line may have; a longer one ends the sequence with
    ///     ``RunLoops/RunLoop/InputError/lineTooLong(limit:)``.
    ///   - isValidated: Whether a line that is not UTF-8 ends the sequence with
    ///     ``RunLoops/RunLoop/InputError/invalidUTF8``. Otherwise the wrong bytes are replaced by `U+FFFD`.
    ///   - mode: The mode that the file is read in; `.common` for all common modes.
    /// - Throws: What adding an event source throws.
    ///
    /// - Precondition: the file was not closed, and the loop has no other reader or sequence of the same descriptor.
    public func lines(
        of file: File, limit: Int = 1 << 20, isValidated: Bool = false, in mode: Mode = .common
    ) throws(SystemCallError) -> InputSequence<String> {
        try input(of: file, as: .lines(limit: limit, isValidated: isValidated), in: mode)
    }

    /// Returns a sequence of the bytes of a file; its ``RunLoops/RunLoop/InputSequence/batches`` are arrays of bytes.
    ///
    /// - Parameters:
    ///   - file: What to read. No other code should read from it.
    ///   - mode: The mode that the file is read in; `.common` for all common modes.
    /// - Throws: What adding an event source throws.
    ///
    /// - Precondition: the file was not closed, and the loop has no other reader or sequence of the same descriptor.
    public func bytes(of file: File, in mode: Mode = .common) throws(SystemCallError) -> InputSequence<UInt8> {
        try input(of: file, as: .bytes, in: mode)
    }

    /// Returns a sequence of the elements that a format makes of the bytes of a file.
    ///
    /// - Parameters:
    ///   - file: What to read. No other code should read from it.
    ///   - format: What to make of the bytes, such as `.byteLines`.
    ///   - mode: The mode that the file is read in; `.common` for all common modes.
    /// - Throws: What adding an event source throws.
    ///
    /// - Precondition: the file was not closed, and the loop has no other reader or sequence of the same descriptor.
    public func input<Element: Sendable>(
        of file: File, as format: InputFormat<Element>, in mode: Mode = .common
    ) throws(SystemCallError) -> InputSequence<Element> {
        InputSequence(try Intake(file, format, self, mode))
    }

    /// Writes bytes to a file, and waits until the kernel has taken all of them.
    ///
    /// A task that writes more than the other side reads waits for the other side. Close the file after the last call:
    /// ``RunLoops/RunLoop/File/close()``.
    ///
    /// - Parameters:
    ///   - bytes: What to write.
    ///   - file: Where to write; may be blocking, as ``OutputWriter`` says.
    ///   - mode: The mode in which the file is waited for; `.common` for all common modes.
    /// - Throws: A ``/RunLoops/RunLoop/SystemCallError`` with `EPIPE` if the other side has closed;
    ///   `CancellationError`, when some of the bytes may have been written; `ThreadEndedError` when the loop's thread
    ///   has ended.
    ///
    /// - Precondition: the file was not closed.
    public func write(_ bytes: some Sequence<UInt8> & Sendable, to file: File, in mode: Mode = .common) async throws {
        try Task.checkCancellation()
        let outcome = Outcome<Void>()
        let writer = try begin(Duty(outcome), bytes, file, mode)
        try await withTaskCancellationHandler {
            try await outcome.value(of: "room for output: \(file)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
            writer.source?.invalidate()
        }
    }

    /// Waits until a child has ended.
    ///
    /// The child continues to run if the task is cancelled; end it with ``Child/terminate()``. Any number of tasks may
    /// wait for one child, at any time.
    ///
    /// - Parameters:
    ///   - child: The child.
    ///   - mode: The mode in which the child is waited for; `.common` for all common modes.
    /// - Returns: How the child ended, also if other code has reaped it; see ``ChildSource/Status/unknown``.
    /// - Throws: What adding an event source throws; `CancellationError`; `ThreadEndedError` when the loop's thread has
    ///   ended.
    public func exit(of child: Child, in mode: Mode = .common) async throws -> ChildSource.Exit {
        try Task.checkCancellation()
        if let exit = child.exit { return exit }
        let outcome = Outcome<ChildSource.Exit>()
        let source = try begin(Duty(outcome), child, mode)
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "the end of child \(child.process)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
            source.source?.invalidate()
        }
    }

    /// Waits until a child has ended and all that it has written is read.
    ///
    /// The child continues to run if the task is cancelled; end it with ``Child/terminate(killAfter:on:in:)``. One task
    /// waits, and no other code reads the child's pipes.
    ///
    /// - Parameters:
    ///   - child: The child, which may have ended.
    ///   - limit: How many bytes the child may write to each stream; with `onLine`, how many bytes a line may have.
    ///   - outputWait: How long to wait after the exit for the ends of the pipes; without a limit if `nil`.
    ///   - timeLimit: How long the child may take; then it is ended as by a ``ChildCompletion``. Without a limit if
    ///     `nil`.
    ///   - mode: The mode in which the child is waited for; `.common` for all common modes.
    ///   - onLine: Called on the loop's thread with each line that the child writes; the report then has no output.
    /// - Returns: How the child ended, and what it has written.
    /// - Throws: A ``ChildCompletion/Failure`` if the output is incomplete; what adding an event source throws;
    ///   `CancellationError`; `ThreadEndedError` when the loop's thread has ended.
    public func completion(
        of child: Child, limit: Int = 1 << 20, outputWait: Duration? = .seconds(5), timeLimit: Duration? = nil,
        in mode: Mode = .common, onLine: (@Sendable (ChildCompletion.Stream, String) -> Void)? = nil
    ) async throws -> ChildCompletion.Report {
        try Task.checkCancellation()
        let outcome = Outcome<ChildCompletion.Report>()
        let source = try begin(Duty(outcome), child, limit, outputWait, timeLimit, mode, onLine)
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "the end and the output of child \(child.process)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
            source.source?.invalidate()
        }
    }

    // The loop alone keeps the source, and the source its duty: the end of the loop's thread settles the outcome. So
    // no variable of an async function may keep them.

    private func begin(
        _ duty: Duty<Void>, _ bytes: some Sequence<UInt8>, _ file: File, _ mode: Mode
    ) throws(SystemCallError) -> WeakSource {
        let writer = OutputWriter.sendable(file, highWaterMark: 1, label: "write") { writer, event in
            if case .failed(let error) = event {
                duty.outcome.settle(.failure(error))
            } else {
                duty.outcome.settle(.success(()))
            }
            writer.invalidate()
        }
        if writer.write(bytes) {
            duty.outcome.settle(.success(()))
            writer.invalidate()
        } else {
            try add(writer, in: mode)
        }
        return WeakSource(source: writer)
    }

    private func begin(
        _ duty: Duty<ChildSource.Exit>, _ child: Child, _ mode: Mode
    ) throws(SystemCallError) -> WeakSource {
        let source = ChildSource.sendable(child, label: "exit") { duty.outcome.settle(.success($1)) }
        try add(source, in: mode)
        return WeakSource(source: source)
    }

    private func begin(
        _ duty: Duty<ChildCompletion.Report>, _ child: Child, _ limit: Int, _ outputWait: Duration?,
        _ timeLimit: Duration?, _ mode: Mode, _ onLine: (@Sendable (ChildCompletion.Stream, String) -> Void)?
    ) throws(SystemCallError) -> WeakSource {
        let source = ChildCompletion.sendable(
            child, limit: limit, outputWait: outputWait, timeLimit: timeLimit, label: "completion", onLine: onLine
        ) { _, result in duty.outcome.settle(result.mapError { $0 }) }
        try add(source, in: mode)
        return WeakSource(source: source)
    }
}

/// A source that its loop alone keeps.
struct WeakSource: Sendable {
    weak let source: EventSource?
}
