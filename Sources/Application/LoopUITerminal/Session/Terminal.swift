// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoops
// With the times of input and the errors of opening, which are part of this library's interface.
@_exported public import RunLoopsTerminal

/// A terminal as a display: the alternate screen or some rows below the prompt, keys, mouse, focus and pasted text.
///
/// The display opens the terminal device itself, so that the shell's descriptors stay as they are. A frame is written
/// by one call, as the difference to the previous frame; while the terminal has not taken all of it, later frames are
/// dropped. The display asks for the terminal's abilities without waiting for the answer: until then, the environment
/// variables decide.
///
/// Copied text is also put on the clipboard of the terminal's user, even if the user is on another machine, unless the
/// terminal is set to refuse it. The clipboard is never read: its text is received when the user pastes.
///
/// The terminal is restored however the program ends: by a call, by a signal or by a trap. Only `SIGKILL` cannot be
/// handled. When the terminal is restored, it shows the last 16 KB of the text that the program has printed, such as
/// the message of a trap.
@MainActor public final class Terminal: Display {
    /// The number of columns and rows; 80 by 24 if the terminal does not report them.
    ///
    /// A part of the screen has the columns of the terminal, and ``rows`` if the terminal has as many.
    public var size: Size {
        var size = session.size
        if let rows { size = .init(columns: size.columns, rows: min(rows, size.rows)) }
        return Size(size)
    }

    /// The number of rows of a part of the screen; `nil` if the display has the whole screen.
    ///
    /// A number below 1 counts as 1. The part grows and shrinks with the next frame.
    /// - Precondition: a number for a part, `nil` for the whole screen.
    public var rows: Int? {
        didSet {
            precondition(
                (rows == nil) == (oldValue == nil),
                "a Terminal has the whole screen or a part for its life: make it with init(rows:) to change its rows")
            rows = rows.map { max(1, $0) }
            if rows != oldValue { queue?.push(.resized(size)) }
        }
    }
    /// The abilities of the terminal: from the environment at first, corrected when the terminal has answered.
    public private(set) var abilities: DisplayAbilities

    /// The times to wait for the rest of input and for the terminal's answers; they can be changed at any time.
    public var timing: InputTiming {
        get { terminal.timing }
        set { terminal.timing = newValue }
    }

    private let terminal: RawTerminal
    private let pictureWriter: (any PictureWriter)?
    /// The way in which the terminal shows pictures; nil before it has answered, or if it shows none.
    private var pictureAbility: PictureAbility?
    private let isConsole: Bool
    private var encoder = Encoder()
    private weak var queue: InputQueue?
    /// The lines that were printed above a part and are not written yet.
    private var lines: [String] = []
    var session: Session { terminal.session }
    /// The last copied text that is not written yet.
    private var copied: String?
    /// The notifications that are not written yet.
    private var notifications: [String] = []
    /// Whether the bell was asked for, and has not rung yet.
    private var hasBellToRing = false
    /// The maximum number of notifications that wait for the terminal.
    static let maxWaitingNotifications = 16
    private let isInTmux: Bool

    /// Makes a display on a terminal, which is set up when the application launches.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor that is open on the terminal; `nil` for the terminal of the process.
    ///   - pictures: Shows pictures with their own pixels where the terminal can; if it is nil, pictures are drawn as
    ///     half blocks.
    public convenience init(descriptor: CInt? = nil, pictures: (any PictureWriter)? = nil) {
        self.init(descriptor: descriptor, pictures: pictures, environment: .process)
    }

    /// Makes a display on some rows of a terminal, below what was printed.
    ///
    /// Text that was printed before stays, and lines are printed above the part with ``LoopUI/Application/printLine(_:)``. The last frame
    /// stays at the end. The display has no mouse and no pictures. What the program or a child writes to the terminal itself
    /// would be overwritten.
    ///
    /// - Parameters:
    ///   - rows: The number of rows; a number below 1 counts as 1.
    ///   - descriptor: A descriptor that is open on the terminal; `nil` for the terminal of the process.
    public convenience init(rows: Int, descriptor: CInt? = nil) {
        self.init(descriptor: descriptor, rows: max(1, rows), environment: .process)
    }

    init(
        descriptor: CInt?, pictures: (any PictureWriter)? = nil, rows: Int? = nil, environment: Environment
    ) {
        self.rows = rows
        var options: RawTerminal.Options = [.controlKeys, .focus, .paste, .keyReleases]
        if rows == nil { options.formUnion([.alternateScreen, .mouse]) }
        terminal = RawTerminal(options, descriptor: descriptor, isConsole: environment.isConsole)
        encoder.isPart = rows != nil
        pictureWriter = pictures
        isConsole = environment.isConsole
        isInTmux = environment.isInTmux
        abilities = environment.abilities
        limitAbilities()
        encoder.abilities = abilities
        terminal.timing = environment.timing
    }

    /// Sets the terminal to raw mode and shows the alternate screen.
    ///
    /// - Throws: `RawTerminal.OpenError` if there is no terminal, or if the process uses it already;
    ///   `RunLoop.SystemCallError` if a system call fails.
    public func open(_ input: InputQueue) throws {
        queue = input
        input.connect(session)
        session.forget = { [weak self] in self?.encoder.forget() }
        session.lettersChanged = { [weak self] in self?.askPictures() ?? false }
        terminal.writtenHandler = { [weak self] in self?.writeWaiting() }
        terminal.answered = { [weak self] in self?.hasAnswered() }
        terminal.taken = { [weak self] in self?.begin() }
        terminal.eventHandler = { [weak self, weak input] event in
            switch event {
            case .hungUp: input?.push(.terminate(signal: Self.hangUp))
            case .resized: if let self { input?.push(.resized(size)) }
            default: input?.push(event)
            }
        }
        try terminal.open(
            input.loop, input.modes, systemModes: input.systemModes,
            asking: Interview.questions(isConsole: isConsole, ofPictures: pictureWriter != nil))
        Pasteboard.general.changeHandler = { [weak self] in self?.copy($0) }
    }

    /// The number of SIGHUP, which a program receives when its terminal is closed.
    private static let hangUp: CInt = 1

    /// Restores the terminal; a second call does nothing.
    public func close() {
        if session.connection != nil { Pasteboard.general.changeHandler = nil }
        queue?.roomHandler = nil
        writeLines()
        terminal.close()
    }

    /// Writes the changes since the last frame by one call; returns `busy` while an earlier write is under way.
    public func present(_ frame: Frame) -> Presentation {
        let isTaken = session.write {
            let bytes = encoder.encode(frame, pictures: pictures(of: frame))
            if encoder.hasWrittenLinks { terminal.hasLinks = true }
            return bytes
        }
        terminal.closing = encoder.closing
        return isTaken ? .taken : .busy
    }

    // MARK: A part of the screen

    /// Begins the part at the cursor.
    private func begin() {
        encoder.startAnew()
        terminal.closing = ""
        writeWaiting()
    }

    func printLine(_ text: String) {
        guard rows != nil, session.connection != nil, let queue else { return print(text) }
        lines.append(text.shown())
        // All lines of a turn move the part once.
        if lines.count == 1 {
            queue.loop.performLocally(in: queue.modes) { [weak self] in self?.writeLines() }
        }
    }

    /// Writes the printed lines, unless other programs have the terminal or it has not taken the last bytes: later in both cases.
    private func writeLines() {
        guard !lines.isEmpty, !session.isSuspended, let connection = session.connection, !connection.isBusy else {
            return
        }
        connection.write(encoder.encode(above: lines, width: session.size.columns))
        terminal.closing = encoder.closing
        lines = []
    }

    private func pictures(of frame: Frame) -> [UInt8] {
        guard let pictureWriter, let pictureAbility else { return [] }
        return pictureWriter.bytes(for: frame, since: encoder.shown(before: frame), by: pictureAbility)
    }

    /// Restores the terminal and stops the processes of the job until the user continues them.
    public func suspend() { session.suspend() }

    /// Sets the terminal to raw mode and the alternate screen again; the next frame is written whole.
    public func resume() { session.resume() }

    // MARK: Clipboard and notifications

    /// Writes what had to wait for the terminal.
    private func writeWaiting() {
        writeLines()
        writeCopied()
        writeNotifications()
        writeBell()
    }

    /// Hands a notification to the terminal, which shows it on the desktop of its user if it can.
    ///
    /// A text waits while other programs have the terminal, and until the terminal has answered what it can do.
    ///
    /// - Parameter text: The text, of which at most 256 characters are shown.
    /// - Returns: Whether the text was or will be written: not on the console of Linux, and not behind 16 others.
    public func presentNotification(_ text: String) -> Bool {
        guard !isConsole, session.connection != nil, notifications.count < Self.maxWaitingNotifications else {
            return false
        }
        notifications.append(text)
        writeNotifications()
        return true
    }

    private func writeNotifications() {
        guard !notifications.isEmpty, let connection = freeConnection else { return }
        let texts = notifications
        notifications = []
        connection.write(
            texts.flatMap { NotificationBytes.bytes(for: $0, isUnicode: abilities.hasUnicode, isInTmux: isInTmux) })
    }

    /// Rings the terminal's bell, which most terminals show as a mark of the window or the tab.
    ///
    /// The bell waits as a notification does; several requests that wait ring once.
    ///
    /// - Returns: Whether the bell rings or will ring: not on the console of Linux, which has no other window.
    public func requestUserAttention() -> Bool {
        guard !isConsole, session.connection != nil else { return false }
        hasBellToRing = true
        writeBell()
        return true
    }

    private func writeBell() {
        guard hasBellToRing, let connection = freeConnection else { return }
        hasBellToRing = false
        connection.write([0x07])
    }

    /// The connection to a terminal that reads control strings, while it can be written to.
    ///
    /// A terminal that has answered the other questions reads control strings, and drops those that it does not know. The
    /// console of Linux would show them.
    private var freeConnection: Connection? {
        guard terminal.interview.isOver, !isConsole, !session.isSuspended, let connection = session.connection,
            !connection.isBusy
        else { return nil }
        return connection
    }

    private func copy(_ text: String?) {
        copied = text
        writeCopied()
    }

    /// Puts the copied text on the user's clipboard, unless the terminal is set to refuse it; no terminal answers whether
    /// it is.
    private func writeCopied() {
        guard let text = copied, let connection = freeConnection else { return }
        copied = nil
        if let bytes = ClipboardBytes.bytes(for: text) { connection.write(bytes) }
    }

    // MARK: Abilities

    private func hasAnswered() {
        encoder.hasSynchronizedUpdates = terminal.interview.hasSynchronizedUpdates
        let old = abilities
        abilities = terminal.interview.improved(abilities)
        limitAbilities()
        askPictures()
        encoder.abilities = abilities
        terminal.hasKittyPictures = pictureAbility?.way == .kitty
        // Later, when the terminal is taken again.
        if session.isSuspended { return }
        writeWaiting()
        // A frame may have been shown already.
        if abilities.colors != old.colors || abilities.hasPictures != old.hasPictures { queue?.push(.resized(size)) }
    }

    private func limitAbilities() {
        if rows == nil { return }
        abilities.hasPointer = false
        abilities.keepsLastFrame = true
    }

    /// Determines how pictures are shown now; returns whether this has changed, such as after the user has made the
    /// letters larger.
    @discardableResult
    private func askPictures() -> Bool {
        guard let connection = session.connection, pictureWriter != nil, terminal.interview.isOver,
            abilities.colors != .none
        else { return false }
        let old = pictureAbility
        pictureAbility = terminal.interview.pictures(cell: Device.cellSize(connection.output))
        abilities.hasPictures = pictureAbility != nil
        if let cell = pictureAbility?.cell { abilities.pointAspect = cell.height / cell.width }
        return pictureAbility != old
    }
}
