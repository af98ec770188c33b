// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoops

/// A terminal as a display: the alternate screen, keys, mouse, focus and pasted text.
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
    public var size: Size { session.size }
    /// The abilities of the terminal: from the environment at first, corrected when the terminal has answered.
    public private(set) var abilities: DisplayAbilities

    /// The times to wait for the rest of input and for the terminal's answers; they can be changed at any time.
    public var timing: InputTiming {
        get { session.timing }
        set {
            session.timing = newValue
            session.connection?.answersUntil = answersUntil
        }
    }

    private let descriptor: CInt?
    private let pictureWriter: (any PictureWriter)?
    /// The way in which the terminal shows pictures; nil before it has answered, or if it shows none.
    private var pictureAbility: PictureAbility?
    private let environment: Environment
    private var encoder = Encoder()
    private var modes = ScreenModes()
    private var interview = Interview()
    private var opened: ContinuousClock.Instant?
    let session = Session()
    /// The last copied text that is not written yet.
    private var copied: String?

    /// Makes a display on a terminal, which is set up when the application launches.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor that is open on the terminal; `nil` for the terminal of the process.
    ///   - pictures: Shows pictures with their own pixels where the terminal can; if it is nil, pictures are drawn as
    ///     half blocks.
    public convenience init(descriptor: CInt? = nil, pictures: (any PictureWriter)? = nil) {
        self.init(descriptor: descriptor, pictures: pictures, environment: .process)
    }

    init(descriptor: CInt?, pictures: (any PictureWriter)? = nil, environment: Environment) {
        self.descriptor = descriptor
        pictureWriter = pictures
        self.environment = environment
        abilities = environment.abilities
        encoder.abilities = abilities
        modes.isConsole = environment.isConsole
        session.timing = environment.timing
    }

    /// Sets the terminal to raw mode and shows the alternate screen.
    ///
    /// - Throws: `RunLoop.SystemCallError` if there is no terminal, or if a system call fails.
    public func open(_ input: InputQueue) throws {
        let number = try Device.openTerminal(descriptor)
        let output = try Device.duplicate(number)
        session.take = { [unowned self] in try take($0, $1) }
        session.giveBack = { [unowned self] in giveBack() }
        session.forget = { [unowned self] in encoder.forget() }
        session.lettersChanged = { [unowned self] in askPictures() }
        session.whenWritten = { [unowned self] in writeCopied() }
        try session.open(input: number, output: output, input)
        session.connection?.handleReply = { [weak self] in self?.take($0) }
        session.connection?.filter = { [weak self] in self?.filter($0) }
        session.connection?.handleEnd = { input.push(.terminate(signal: Self.hangUp)) }
        session.connection?.write(
            Interview.questions(isConsole: modes.isConsole, ofPictures: pictureWriter != nil))
        opened = .now
        session.connection?.answersUntil = answersUntil
        Pasteboard.general.changeHandler = { [weak self] in self?.copy($0) }
    }

    /// The number of SIGHUP, which a program receives when its terminal is closed.
    private static let hangUp: CInt = 1

    /// Restores the terminal; a second call does nothing.
    public func close() {
        if session.connection != nil { Pasteboard.general.changeHandler = nil }
        session.close()
    }

    /// Makes the terminal raw, and shows the alternate screen.
    private func take(_ connection: Connection, _ reason: Session.Taking) throws {
        try Device.take(connection.output, leaving: modes.leaving, keepsSettings: reason == .afterRelease)
        connection.discard()
        connection.write(reason == .again ? modes.enteringAgain : modes.entering)
    }

    /// The end of the time in which the terminal may answer; `nil` if it has answered, or was given back since it was
    /// asked.
    private var answersUntil: ContinuousClock.Instant? {
        interview.isOver ? nil : opened.map { $0 + timing.answerTimeout }
    }

    private func giveBack() {
        while let connection = session.connection, let limit = answersUntil {
            let rest = limit - .now
            guard rest > .zero, Device.waitForInput(connection.input, rest), connection.readOnce() else { break }
        }
        // What has come of an answer that is not whole would be typed into the shell.
        if answersUntil != nil, let connection = session.connection { Device.discardInput(connection.input) }
        // Asked once.
        opened = nil
        session.connection?.answersUntil = nil
        session.connection?.endInput()
        session.connection?.discard()
        Device.giveBack()
    }

    /// Writes the changes since the last frame by one call; returns `busy` while an earlier write is under way.
    public func present(_ frame: Frame) -> Presentation {
        session.present { encoder.encode(frame, pictures: pictures(of: frame)) }
    }

    private func pictures(of frame: Frame) -> [UInt8] {
        guard let pictureWriter, let pictureAbility else { return [] }
        return pictureWriter.bytes(for: frame, since: encoder.shown(before: frame), by: pictureAbility)
    }

    /// Restores the terminal and stops the processes of the job until the user continues them.
    public func suspend() { session.suspend() }

    /// Sets the terminal to raw mode and the alternate screen again; the next frame is written whole.
    public func resume() { session.resume() }

    // MARK: Clipboard

    private func copy(_ text: String?) {
        copied = text
        writeCopied()
    }

    /// Puts the copied text on the user's clipboard.
    ///
    /// No terminal answers whether it allows this. A terminal that has answered the other questions reads control
    /// strings, and drops this one if it is set to; the console of Linux would show the string.
    private func writeCopied() {
        guard let text = copied, interview.isOver, !modes.isConsole, !session.isSuspended,
            let connection = session.connection, !connection.isBusy
        else { return }
        copied = nil
        if let bytes = ClipboardBytes.bytes(for: text) { connection.write(bytes) }
    }

    // MARK: Abilities

    private func take(_ reply: Reply) {
        if interview.isOver { return }
        interview.take(reply)
        guard interview.isOver, let connection = session.connection else { return }
        connection.answersUntil = nil
        modes.hasKeyEnds = interview.hasKeyEnds
        modes.hasResizeReports = interview.hasResizeReports
        encoder.hasSynchronizedUpdates = interview.hasSynchronizedUpdates
        let old = abilities
        abilities = interview.improved(abilities)
        askPictures()
        encoder.abilities = abilities
        modes.hasKittyPictures = pictureAbility?.way == .kitty
        // Later, when the terminal is taken again.
        if session.isSuspended { return }
        Device.prepare(leaving: modes.leaving)
        connection.write(modes.offered)
        writeCopied()
        // A frame may have been shown already.
        if abilities.colors != old.colors || abilities.hasPictures != old.hasPictures {
            session.queue?.push(.resized(size))
        }
    }

    /// Determines how pictures are shown now; returns whether this has changed, such as after the user has made the
    /// letters larger.
    @discardableResult
    private func askPictures() -> Bool {
        guard let connection = session.connection, pictureWriter != nil, interview.isOver, abilities.colors != .none
        else { return false }
        let old = pictureAbility
        pictureAbility = interview.pictures(cell: Device.cellSize(connection.output))
        abilities.hasPictures = pictureAbility != nil
        if let cell = pictureAbility?.cell { abilities.pointAspect = cell.height / cell.width }
        return pictureAbility != old
    }

    private func filter(_ input: RawInput) -> RawInput? {
        guard case .resized(let new) = input else { return input }
        return session.takeSize(new) ? .resized(size) : nil
    }
}
