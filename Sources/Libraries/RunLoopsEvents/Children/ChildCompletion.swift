// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC

/// Calls a closure on a loop's thread once, when a child has ended and all that it has written is read.
///
/// ```swift
/// let child = try Child.spawn(.name("sort"), input: .file("/etc/passwd"), output: .pipe, error: .pipe)
/// let completion = ChildCompletion(child, limit: 1 << 20) { _, result in … }
/// ```
///
/// The end of standard output, the end of standard error and the exit come in any order. The completion waits for all
/// three; a stream that is not a pipe has no end to wait for, and what a child's terminal shows counts as standard output. It reads both pipes while the child runs, so that a child
/// never waits for room.
///
/// - A child that writes more than the limit to a stream is killed (`SIGKILL`), and so is a child whose output cannot
///   be read: otherwise the child would wait forever for room in the pipe. A child with a group of its own is killed
///   with its group. The closure is called after the exit.
/// - A process that the child has left behind may hold a pipe open. After the exit the completion waits for it for the
///   time `outputWait`, then reads what is in the pipe, which is all that the child itself has written, and reports
///   ``Failure/Reason/heldOpen``.
/// - With a time limit, a child that takes longer is asked to end, and killed if it has not ended five seconds later,
///   as by ``Child/terminate(killAfter:on:in:)``: together with what it has started if it was spawned with a group of
///   its own.
///
/// With `onLine`, a program that needs the lines while the child runs receives them, the exit and the time limit from
/// one source.
///
/// A failure also contains the exit, and what was read. Without a time limit, the program has to end a child that does
/// not end by itself. The source is invalidated before its callout. A completion that is invalidated earlier leaves the
/// child as it is.
///
/// Corresponds to a `DispatchGroup` around a Foundation `Process` and its pipes.
///
/// Thread safety: all members may be used by any thread.
public final class ChildCompletion: EventSource, EndingSource, @unchecked Sendable {
    /// Called with the completion and its result.
    typealias Handler = (ChildCompletion, Result<Report, Failure>) -> Void
    /// Called with each line as soon as it is read.
    typealias LineHandler = (Stream, String) -> Void

    /// The child.
    public let child: Child
    private let limit: Int
    let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private(set) var handler: Handler?
    @exclusivity(unchecked) private var lineHandler: LineHandler?
    @exclusivity(unchecked) private var output: [UInt8] = []
    @exclusivity(unchecked) private var error: [UInt8] = []
    /// With a line handler: the lines that were read, and the beginnings of lines.
    @exclusivity(unchecked) private var lines: ChildLines
    /// The first reason for a failure.
    @exclusivity(unchecked) private var reason: Failure.Reason?
    // Set by init, and not changed after it.
    @exclusivity(unchecked) private var readers: [(stream: Stream, source: InputReader<UInt8>)] = []
    private let outputWait: Duration?
    private let timeLimit: Duration?
    @exclusivity(unchecked) private var waitTimer: RunLoop.Timer?
    @exclusivity(unchecked) private var limitTimer: RunLoop.Timer?
    private let hasLineHandler: Bool
    /// Whether the time of the child has begun.
    private let hasBegun = Guarded(false)

    /// A completion whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - child: The child, which may have ended. No other code reads its pipes.
    ///   - limit: How many bytes the child may write to each stream; with `onLine`, how many bytes a line may have.
    ///   - outputWait: How long the completion waits after the exit for the ends of the pipes; without a limit if
    ///     `nil`.
    ///   - timeLimit: How long the child may take, on the loop's monotonic clock, from when the completion is first
    ///     added to a mode; without a limit if `nil`.
    ///   - label: The name in descriptions and tools; where the completion was made, if `nil`.
    ///   - fileID: Where the completion was made.
    ///   - line: Where the completion was made.
    ///   - onLine: Called with each line that the child writes, without the line feed, as soon as it is read and before
    ///     `handler`. The report then has no output: nothing is kept but a line that is not complete, which is passed on
    ///     before `handler` is called, also with a failure. Of a line that is too long nothing is passed on. If the
    ///     closure runs the loop, the next lines are passed on within that run.
    ///   - handler: Called with the completion, and how the child ended and what it has written.
    ///
    /// Adding the completion to the loop of another thread traps.
    /// - Complexity: O(n) in the bytes, in portions of at most 64 KiB a turn.
    public convenience init(
        _ child: Child, limit: Int = 1 << 20, outputWait: Duration? = .seconds(5), timeLimit: Duration? = nil,
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        onLine: ((Stream, String) -> Void)? = nil, handler: @escaping (ChildCompletion, Result<Report, Failure>) -> Void
    ) {
        self.init(child, limit, outputWait, timeLimit, .here(label, fileID, line), onLine, handler)
    }

    /// A completion whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:limit:outputWait:timeLimit:label:fileID:line:onLine:handler:)``.
    public static func sendable(
        _ child: Child, limit: Int = 1 << 20, outputWait: Duration? = .seconds(5), timeLimit: Duration? = nil,
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        onLine: (@Sendable (Stream, String) -> Void)? = nil,
        handler: @escaping @Sendable (ChildCompletion, Result<Report, Failure>) -> Void
    ) -> ChildCompletion {
        ChildCompletion(child, limit, outputWait, timeLimit, .anywhere(label, fileID, line), onLine, handler)
    }

    /// A completion whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:limit:outputWait:timeLimit:label:fileID:line:onLine:handler:)``.
    public static func mainActor(
        _ child: Child, limit: Int = 1 << 20, outputWait: Duration? = .seconds(5), timeLimit: Duration? = nil,
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        onLine: (@MainActor (Stream, String) -> Void)? = nil,
        handler: @escaping @MainActor (ChildCompletion, Result<Report, Failure>) -> Void
    ) -> ChildCompletion {
        let lineHandler = onLine.map { onLine -> LineHandler in
            { stream, line in MainActor.assumeIsolated { onLine(stream, line) } }
        }
        return ChildCompletion(
            child, limit, outputWait, timeLimit, .mainThread(label, fileID, line), lineHandler
        ) { completion, result in
            MainActor.assumeIsolated { handler(completion, result) }
        }
    }

    private init(
        _ child: Child, _ limit: Int, _ outputWait: Duration?, _ timeLimit: Duration?, _ origin: SourceOrigin,
        _ lineHandler: LineHandler?, _ handler: @escaping Handler
    ) {
        self.child = child
        self.limit = max(0, limit)
        self.outputWait = outputWait
        self.timeLimit = timeLimit
        self.handler = handler
        self.lineHandler = lineHandler
        hasLineHandler = lineHandler != nil
        lines = ChildLines(limit: self.limit)
        super.init(child.file, for: .readable, origin)
        for (stream, file) in [(Stream.output, child.standardOutput), (.error, child.standardError)] {
            guard let descriptor = file?.file else { continue }
            // A file of its own: other code may close the child's at any time.
            let (file, label) = (RunLoop.File(descriptor), "\(stream) of \(label)")
            let reader = InputReader.sendable(
                file, as: .bytes, label: label, fileID: origin.fileID, line: origin.line
            ) { [weak self] _, event in self?.read(event, from: stream) }
            readers.append((stream, reader))
        }
        if outputWait != nil, !readers.isEmpty {
            waitTimer = origin.restingTimer("wait for output") { [weak self] in self?.stopWaiting() }
        }
        if timeLimit != nil { limitTimer = origin.restingTimer("time limit") { [weak self] in self?.timeIsOver() } }
    }

    // MARK: Modes

    override func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {
        for timer in [waitTimer, limitTimer] { if let timer { loop.add(timer, in: mode) } }
        if let timeLimit,
            hasBegun.withLock({ begun in
                defer { begun = true }
                return !begun
            })
        {
            limitTimer?.restart(after: timeLimit)
        }
        for (_, reader) in readers {
            do throws(RunLoop.SystemCallError) {
                try loop.add(reader, in: mode)
            } catch {
                // Any thread: nothing is read here.
                invalidateReaders()
                fail(.unreadable(.system(error)))
            }
        }
    }

    override func left(_ mode: RunLoop.Mode, of loop: RunLoop) {
        for timer in [waitTimer, limitTimer] { if let timer { loop.remove(timer, from: mode) } }
        for (_, reader) in readers { loop.remove(reader, from: mode) }
    }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        // No exit is to be expected of a readable pidfd; if it happens, the kernel reports the end again.
        guard child.exit != nil else { return }
        // The pidfd stays readable.
        watched = []
        limitTimer?.invalidate()
        if let outputWait { waitTimer?.restart(after: outputWait) }
        completeIfDone()
    }

    private func read(_ event: InputReader<UInt8>.Event, from stream: Stream) {
        switch event {
        case .received(let bytes) where hasLineHandler: split(bytes, from: stream)
        case .received(let bytes): keep(bytes, from: stream)
        case .ended: break
        case .failed(let error): fail(.unreadable(error), of: stream)
        }
        completeIfDone()
    }

    /// Keeps what the limit allows, and fails if there is more.
    private func keep(_ bytes: [UInt8], from stream: Stream) {
        let isTooMuch = state.withLock {
            let room = limit - (stream == .output ? output.count : error.count)
            switch stream {
            case .output: output.append(contentsOf: bytes.prefix(room))
            case .error: error.append(contentsOf: bytes.prefix(room))
            }
            return bytes.count > room
        }
        if isTooMuch { fail(.outputTooLong(stream, limit: limit), of: stream) }
    }

    private func split(_ bytes: [UInt8], from stream: Stream) {
        do throws(RunLoop.InputError) {
            try state.withLock { () throws(RunLoop.InputError) in try lines.take(bytes, from: stream) }
        } catch {
            fail(.unreadable(error), of: stream)
        }
        handOver()
    }

    /// Calls the program's closure with each line that was read, in order.
    ///
    /// The closure may invalidate this completion, and may run the loop: a call within the closure continues with the
    /// next line, so that no line is lost or late when the nested run completes this completion.
    private func handOver() {
        while let (handler, (stream, line)) = state.withLock({ () -> (LineHandler, ChildLines.Line)? in
            guard let lineHandler, let line = lines.next() else { return nil }
            return (lineHandler, line)
        }) {
            handler(stream, line)
        }
    }

    /// Reads no more than is there, and sees to it that the child ends.
    private func fail(_ reason: Failure.Reason, of stream: Stream? = nil) {
        state.withLock { if self.reason == nil { self.reason = reason } }
        child.signalAll(SIGKILL)
        for (other, reader) in readers where other == stream { reader.invalidate() }
        readRest()
        // The exit may be known already: it is looked at again, on the loop's thread.
        watched = .readable
    }

    /// Reads what is in the pipes now, and not what comes while it is being read; returns whether a pipe has not ended.
    @discardableResult
    private func readRest() -> Bool {
        for (_, reader) in readers where reader.isValid {
            // The kernel counts only a part of what a terminal holds, and gives at most 4 KiB at a time.
            var count = child.terminal == nil ? reader.withDescriptor { Int(rl_bytes_waiting($0)) } ?? 0 : 32768
            let most = child.terminal == nil ? reader.portion : 4096
            while count > 0, reader.isValid {
                count -= min(reader.portion, most)
                reader.ready(.readable)
            }
        }
        defer { invalidateReaders() }
        return readers.contains { $0.source.isValid }
    }

    private func invalidateReaders() { for (_, reader) in readers { reader.invalidate() } }

    /// The child has taken too long: what it writes until its end is read still.
    private func timeIsOver() {
        if child.exit != nil { return }
        state.withLock { if reason == nil { reason = .tookTooLong(timeLimit ?? .zero) } }
        child.terminate(killAfter: .seconds(5), on: .current)
    }

    /// The time for processes that hold a pipe open is over.
    private func stopWaiting() {
        if readRest() { state.withLock { if reason == nil { reason = .heldOpen } } }
        completeIfDone()
    }

    private func completeIfDone() {
        guard !readers.contains(where: { $0.source.isValid }), let exit = child.exit else { return }
        // Also after a failure: the beginning of a line is all that there will be of the line.
        state.withLock { lines.end() }
        handOver()
        // A closure may have invalidated this completion, and a run nested in it may have completed it.
        guard isValid else { return }
        let (report, reason) = state.withLock { (Report(exit: exit, output: output, error: error), self.reason) }
        end(with: reason.map { .failure(Failure($0, report)) } ?? .success(report))
    }

    override func refused(_ error: RunLoop.SystemCallError) { completeIfDone() }

    override func giveUp() {
        let released = state.withLock { () -> (Handler?, LineHandler?, [UInt8], [UInt8]) in
            defer { (handler, lineHandler, output, error, lines) = (nil, nil, [], [], ChildLines(limit: limit)) }
            return (handler, lineHandler, output, error)
        }
        waitTimer?.invalidate()
        limitTimer?.invalidate()
        invalidateReaders()
        withExtendedLifetime(released) {}
    }
}
