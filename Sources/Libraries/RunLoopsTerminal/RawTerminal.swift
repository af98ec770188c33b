// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
public import RunLoopsConcurrency
internal import RunLoopsEvents
internal import Synchronization

/// The terminal of the process: single keys, the size, and settings that are restored however the program ends.
///
/// The terminal is opened once more, so that the shell's descriptors stay as they are. From then on keys arrive one by
/// one and are not shown. Events come by the loop, to a handler or to a task; the program writes what it likes.
///
/// The terminal's settings, the style of letters and the cursor are restored by ``close()``, by the end of the program,
/// by each signal that ends it, by a trap, and while the program is stopped by Ctrl-Z. Only `SIGKILL` cannot be handled.
/// When the program continues in the foreground, the terminal is set up again, and a ``Event/resized(_:)`` follows.
///
/// One terminal is open in a process at a time. It stays open until ``close()``, even if the program keeps no reference
/// to it.
///
/// Thread safety: the main actor, whose loop delivers the events.
@MainActor public final class RawTerminal {
    /// The changes to a terminal beside single keys.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes the set of options with these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Ctrl-C, Ctrl-\\ and Ctrl-Z are keys, and not signals that end or stop the program.
        public static var controlKeys: Options { Options(rawValue: 1) }
        /// The program has a screen of its own, without a cursor; the shell's screen comes back at the end.
        ///
        /// Output is not processed: a line feed does not return to the first column. The last 16 KB of what the process
        /// prints to standard output and standard error are kept, and shown when the terminal is restored.
        public static var alternateScreen: Options { Options(rawValue: 2) }
        /// Buttons and the wheel of the mouse are events, and moves while a button is held.
        public static var mouse: Options { Options(rawValue: 4) }
        /// Pasted text is an event of its own, and not keys (bracketed paste).
        public static var paste: Options { Options(rawValue: 8) }
        /// The terminal reports whether it has the focus.
        public static var focus: Options { Options(rawValue: 16) }
        /// Repeats and releases of keys are events, and more keys can be told apart, if the terminal knows the kitty
        /// protocol; the terminal is asked.
        public static var keyReleases: Options { Options(rawValue: 32) }

        /// The options that terminals without control sequences cannot have.
        fileprivate static var sequences: Options { [.alternateScreen, .mouse, .paste, .focus, .keyReleases] }
    }

    /// The reason why a terminal was not opened.
    public enum OpenError: Error, Hashable, CustomStringConvertible {
        /// The process has no terminal, or the descriptor is open on something else.
        case notATerminal
        /// The terminal knows no control sequences, by its `TERM`, and options were asked for that need them.
        case dumb(term: String)
        /// The process has the terminal open already.
        case inUse
        /// The system has refused a call.
        case system(RunLoop.SystemCallError)

        /// A sentence with the remedy.
        public var description: String {
            switch self {
            case .notATerminal: "There is no terminal: read lines of standard input instead."
            case .dumb(let term):
                "A terminal with TERM=\(term) has no control sequences: open it with single keys alone."
            case .inUse: "This process has its terminal open already: use that one, or close it first."
            case .system(let error): "\(error)"
            }
        }
    }

    /// The number of columns and rows, at most 1,000 by 400; 80 by 24 if the terminal does not report them.
    public var size: Size { session.size }
    /// The times to wait for the rest of a sequence and for answers; they can be changed at any time.
    ///
    /// The first value has the escape delay of the environment variable `ESCDELAY`.
    public var timing: InputTiming {
        get { session.timing }
        set {
            session.timing = newValue
            session.connection?.answersUntil = answersUntil
        }
    }
    /// Called for each event, on the main loop; input is read while there is a handler or a sequence of ``events()``.
    public var eventHandler: ((Event) -> Void)? { didSet { session.connection?.watch() } }
    /// Called with `SIGTERM`, `SIGHUP`, `SIGINT` or `SIGQUIT`, which then does not end the program.
    ///
    /// If it is `nil`, the terminal is restored, and the program dies of the signal, as its parent expects. A SIGHUP
    /// that the parent ignores, as nohup(1) does, is not received.
    public var terminationHandler: ((CInt) -> Void)?
    /// Called when the terminal has taken everything that was written.
    public var writtenHandler: (() -> Void)?

    package let session = Session()
    /// The answers to the questions of ``open(_:_:asking:)``.
    package private(set) var interview = Interview()
    /// Called when the terminal has answered these questions, before the modes are set that it has reported to know.
    package var answered: () -> Void = {}
    /// Called when the terminal was taken, and shows nothing of the program's.
    package var taken: () -> Void = {}
    private let descriptor: CInt?
    private var modes = ScreenModes()
    private var isInterviewing = false
    private var isClosing = false
    /// How many last questions are not answered.
    private var openQuestions = 0
    private var lastAsked = ContinuousClock.now
    private var emitter: RunLoop.EventSequence<Event>.Emitter?
    private var kept = Kept()
    private var whenWritten: [CheckedContinuation<Void, Never>] = []
    /// This object, while it is open.
    private var own: RawTerminal?

    /// The number of events that a sequence has and its task has not asked for.
    private final class Kept: Sendable {
        /// How many a sequence keeps before reading waits.
        static let capacity = 256
        private let count = Atomic(0)

        var isFull: Bool { count.load(ordering: .relaxed) >= Self.capacity }
        func add() { count.add(1, ordering: .relaxed) }
        /// Returns whether the sequence was full.
        func remove() -> Bool { count.subtract(1, ordering: .relaxed).oldValue == Self.capacity }
    }

    // MARK: Opening

    /// Opens the terminal of the process: `/dev/tty`, or the terminal on a standard stream.
    ///
    /// In the background the system stops the process until it is in the foreground.
    ///
    /// - Parameters:
    ///   - options: The changes to the terminal beside single keys.
    ///   - descriptor: A descriptor that is open on another terminal, which is opened once more; `nil` for the terminal
    ///     of the process.
    ///   - mode: The mode of the main loop in which events are delivered.
    /// - Throws: The reason why the terminal was not opened; it is as before then.
    public convenience init(
        _ options: Options = [], descriptor: CInt? = nil, in mode: RunLoop.Mode = .common
    ) throws(OpenError) {
        let term = environmentValue("TERM") ?? ""
        self.init(
            options, descriptor: descriptor, isDumb: term.isEmpty || term == "dumb", isConsole: term == "linux")
        if modes.isDumb, !options.isDisjoint(with: .sequences) { throw .dumb(term: term) }
        session.timing = InputTiming(escapeDelay: environmentValue("ESCDELAY"))
        do {
            try open(
                .main, [mode], systemModes: [mode], asking: options.contains(.keyReleases) ? Interview.keyboard : "")
        } catch {
            throw error as? OpenError ?? .system(error as! RunLoop.SystemCallError)
        }
        own = self
    }

    /// Makes a terminal that is not open.
    package init(_ options: Options, descriptor: CInt?, isDumb: Bool = false, isConsole: Bool) {
        self.descriptor = descriptor
        modes.options = options
        modes.isDumb = isDumb
        modes.isConsole = isConsole
        session.take = { [weak self] in try self?.take($0, $1) }
        session.giveBack = { [weak self] in self?.giveBack() }
        session.handle = { [weak self] in self?.deliver($0) }
        session.isFull = { [weak self] in self?.isFull ?? true }
        session.terminate = { [weak self] in self?.terminate($0) }
        session.whenWritten = { [weak self] in self?.hasWritten() }
    }

    /// Opens the terminal, and asks questions without waiting for the answers.
    package func open(
        _ loop: RunLoop, _ loopModes: [RunLoop.Mode], systemModes: [RunLoop.Mode], asking questions: String
    ) throws {
        try session.claim()
        isClosing = false
        do {
            let (input, output) = try Device.openTerminal(descriptor)
            try session.open(input: input, output: output, loop, loopModes, systemModes: systemModes)
        } catch {
            session.close()
            throw error
        }
        isInterviewing = !questions.isEmpty
        if isInterviewing { ask(questions) }
    }

    /// Restores the terminal, and ends the sequence of events; a second call does nothing.
    ///
    /// Bytes that were written and that the terminal has not taken are written first, without
    /// ``Options/alternateScreen``. A terminal that takes nothing for 200 milliseconds, or not everything in 5 seconds,
    /// does not get the rest. Questions that the terminal has not answered are waited for until
    /// ``InputTiming/answerTimeout``, since the answer would appear in the shell.
    public func close() {
        isClosing = true
        session.close()
        emitter = nil
        own = nil
    }

    private func terminate(_ signal: CInt) {
        if let terminationHandler { return terminationHandler(signal) }
        close()
        Device.die(of: signal)
    }

    private func take(_ connection: Connection, _ reason: Session.Taking) throws {
        let hasScreen = modes.options.contains(.alternateScreen)
        try Device.take(
            connection.output, leaving: modes.leaving, keepsOutput: !hasScreen, keepsSettings: reason == .afterRelease,
            keepsSignals: !modes.options.contains(.controlKeys))
        if hasScreen { connection.discard() }
        connection.write(reason == .again ? modes.enteringAgain : modes.entering)
        taken()
    }

    private func giveBack() {
        guard let connection = session.connection else { return }
        // The handler of a key may have closed the terminal, and the answer came with the key.
        connection.handOnReplies()
        while let limit = answersUntil {
            let rest = limit - .now
            guard rest > .zero, Device.waitForInput(connection.input, rest), connection.readOnce() else { break }
        }
        // A part of an answer would be typed into the shell.
        if answersUntil != nil { Device.discardInput(connection.input) }
        openQuestions = 0
        connection.answersUntil = nil
        connection.endInput()
        if modes.options.contains(.alternateScreen) { connection.discard() } else { connection.sendRest() }
        Device.giveBack()
        resumeFlushed()
    }

    // MARK: Events

    /// Returns a sequence of the events from now on, for one task; an earlier sequence ends.
    ///
    /// Reading waits while 256 events are kept for the task. The sequence ends when the terminal is closed or gone.
    /// A signal that ends the program is not an event: see ``terminationHandler``.
    public func events() -> RunLoop.EventSequence<Event> {
        let kept = Kept()
        self.kept = kept
        let sequence = RunLoop.EventSequence<Event>(buffering: .unbounded) { emitter in
            self.emitter = emitter
            return RunLoop.EventSequence.Stop(
                demand: { [weak self] in
                    if kept.remove() { Task { @MainActor in self?.session.connection?.watch() } }
                },
                stop: { [weak self] in
                    Task { @MainActor in if let self, self.kept === kept { self.endSequence() } }
                })
        }
        session.connection?.watch()
        return sequence
    }

    private func endSequence() {
        emitter = nil
        session.connection?.watch()
    }

    private var isFull: Bool { emitter == nil ? eventHandler == nil : kept.isFull }

    private func deliver(_ event: Event) {
        // The handler of an event before it may have closed the terminal.
        if isClosing, !event.isReply { return }
        if case .reply(let reply) = event { take(reply) }
        eventHandler?(event)
        if let emitter {
            kept.add()
            emitter.emit(event)
        }
        if event == .hungUp { emitter = nil }
    }

    // MARK: Questions

    /// Writes a question to the terminal, such as `CSI 6 n` for the position of the cursor; the answer is an event.
    ///
    /// A question follows that every terminal answers, with ``Reply/deviceAttributes(_:)``: the terminal does not answer
    /// what it has not answered before that.
    public func ask(_ question: String) {
        guard let connection = session.connection, !session.isSuspended else { return }
        openQuestions += 1
        lastAsked = .now
        connection.answersUntil = answersUntil
        connection.write(question + Interview.last)
    }

    /// The end of the time in which the terminal may answer; `nil` if it has answered, or was given back since it was
    /// asked.
    private var answersUntil: ContinuousClock.Instant? {
        openQuestions == 0 ? nil : lastAsked + timing.answerTimeout
    }

    private func take(_ reply: Reply) {
        if case .deviceAttributes = reply, openQuestions > 0 { openQuestions -= 1 }
        session.connection?.answersUntil = answersUntil
        if !isInterviewing || interview.isOver { return }
        interview.take(reply)
        guard interview.isOver, let connection = session.connection else { return }
        modes.hasKeyEnds = interview.hasKeyEnds
        modes.hasResizeReports = interview.hasResizeReports
        answered()
        // Later, when the terminal is taken again.
        if session.isSuspended { return }
        Device.prepare(leaving: modes.leaving)
        connection.write(modes.offered)
    }

    /// Whether the restoration removes pictures of the kitty protocol.
    package var hasKittyPictures: Bool {
        get { modes.hasKittyPictures }
        set { modes.hasKittyPictures = newValue }
    }

    /// Whether the restoration ends a link, of which the terminal may have received the beginning alone.
    package var hasLinks: Bool {
        get { modes.hasLinks }
        set {
            if newValue == modes.hasLinks { return }
            modes.hasLinks = newValue
            prepareRestoration()
        }
    }

    /// The bytes that a restoration begins with, such as those that move the cursor below what the program shows.
    package var closing: String {
        get { modes.closing }
        set {
            if newValue == modes.closing { return }
            modes.closing = newValue
            prepareRestoration()
        }
    }

    private func prepareRestoration() {
        if session.connection != nil, !session.isSuspended { Device.prepare(leaving: modes.leaving) }
    }

    // MARK: Output

    /// Writes bytes, behind those that the terminal has not taken yet; never waits for the terminal.
    ///
    /// Nothing is written while the terminal is closed, or released to another program: draw at the next
    /// ``Event/resized(_:)``.
    ///
    /// - Complexity: O(bytes). Memory grows while the terminal takes nothing: see ``hasUnwrittenBytes``.
    public func write(_ bytes: [UInt8]) {
        if !session.isSuspended { session.connection?.write(bytes) }
    }

    /// Writes text, like ``write(_:)-([UInt8])``.
    public func write(_ text: String) { write(Array(text.utf8)) }

    /// Whether the terminal has not taken everything that was written; a program that draws frames skips one then.
    public var hasUnwrittenBytes: Bool { session.connection?.isBusy ?? false }

    /// Waits until the terminal has taken everything that was written, or is restored.
    public func flush() async {
        if hasUnwrittenBytes { await withCheckedContinuation { whenWritten.append($0) } }
    }

    private func hasWritten() {
        resumeFlushed()
        writtenHandler?()
    }

    private func resumeFlushed() {
        let waiting = whenWritten
        whenWritten = []
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Stops and other programs

    /// Restores the terminal and stops the processes of the job, as Ctrl-Z does; returns when the user continues them,
    /// after the terminal was set up again.
    ///
    /// For a key of the program's own with ``Options/controlKeys``. Without a shell that could continue the process, it
    /// does not stop.
    public func suspend() { session.suspend() }

    /// Releases the terminal to other programs, such as an editor or a pager, while a closure runs.
    ///
    /// Meanwhile the terminal has its earlier settings; the program receives no events, and its loop runs. A child that
    /// the closure starts should be in the process group of the program, as is the default of `Child.spawn`, so that it
    /// is in the foreground. Ctrl-C and Ctrl-\\ are sent to the child alone, as in system(3). Ctrl-Z stops both, and
    /// `fg` continues both. Then the terminal is set up again, and a ``Event/resized(_:)`` follows.
    ///
    /// Closures that run at the same time share the terminal until the last one ends.
    ///
    /// - Parameter body: Runs the other programs, and returns when they have ended.
    /// - Returns: The result of the closure.
    /// - Throws: The error that the closure throws.
    public func withTerminalReleased<Result>(
        _ body: @MainActor () async throws -> Result
    ) async rethrows -> Result {
        try await session.release(suspendApplication: { session.suspend() }, while: body)
    }
}
