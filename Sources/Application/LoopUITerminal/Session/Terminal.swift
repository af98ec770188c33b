// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoops
// With the times of input and the errors of opening, which are part of this library's interface.
@_exported public import RunLoopsTerminal

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
    public var size: Size { Size(session.size) }
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
    var session: Session { terminal.session }
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
        terminal = RawTerminal(
            [.controlKeys, .alternateScreen, .mouse, .focus, .paste, .keyReleases], descriptor: descriptor,
            isConsole: environment.isConsole)
        pictureWriter = pictures
        isConsole = environment.isConsole
        abilities = environment.abilities
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
        terminal.writtenHandler = { [weak self] in self?.writeCopied() }
        terminal.answered = { [weak self] in self?.hasAnswered() }
        terminal.eventHandler = { [weak input] event in
            if event == .hungUp { input?.push(.terminate(signal: Self.hangUp)) } else { input?.push(event) }
        }
        try terminal.open(
            input.loop, input.modes,
            asking: Interview.questions(isConsole: isConsole, ofPictures: pictureWriter != nil))
        Pasteboard.general.changeHandler = { [weak self] in self?.copy($0) }
    }

    /// The number of SIGHUP, which a program receives when its terminal is closed.
    private static let hangUp: CInt = 1

    /// Restores the terminal; a second call does nothing.
    public func close() {
        if session.connection != nil { Pasteboard.general.changeHandler = nil }
        queue?.roomHandler = nil
        terminal.close()
    }

    /// Writes the changes since the last frame by one call; returns `busy` while an earlier write is under way.
    public func present(_ frame: Frame) -> Presentation {
        session.write { encoder.encode(frame, pictures: pictures(of: frame)) } ? .taken : .busy
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
        guard let text = copied, terminal.interview.isOver, !isConsole, !session.isSuspended,
            let connection = session.connection, !connection.isBusy
        else { return }
        copied = nil
        if let bytes = ClipboardBytes.bytes(for: text) { connection.write(bytes) }
    }

    // MARK: Abilities

    private func hasAnswered() {
        encoder.hasSynchronizedUpdates = terminal.interview.hasSynchronizedUpdates
        let old = abilities
        abilities = terminal.interview.improved(abilities)
        askPictures()
        encoder.abilities = abilities
        terminal.hasKittyPictures = pictureAbility?.way == .kitty
        // Later, when the terminal is taken again.
        if session.isSuspended { return }
        writeCopied()
        // A frame may have been shown already.
        if abilities.colors != old.colors || abilities.hasPictures != old.hasPictures { queue?.push(.resized(size)) }
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
