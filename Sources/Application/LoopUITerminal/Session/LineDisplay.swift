// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoops
internal import RunLoopsLibC
public import RunLoopsTerminal

/// A display that writes changes as plain lines, for output that is not a terminal, for terminals that cannot move
/// their cursor, and for screen readers.
///
/// A line of the frame that has changed is written whole. Input is received as keys. A terminal for which the user asks
/// for lines, with `LOOPUI_LINEAR=1`, delivers each key at once; other terminals deliver the keys of a line at its end.
@MainActor public final class LineDisplay: Display {
    /// The number of columns and rows; 80 by 24 if the terminal does not report them.
    public var size: Size { Size(session.size) }
    /// The times to wait for the rest of input; they can be changed at any time.
    public var timing: InputTiming {
        get { session.timing }
        set { session.timing = newValue }
    }
    /// The abilities of the display: lines, without colours and pointer.
    public let abilities: DisplayAbilities

    /// Whether keys come one by one; else the terminal edits lines.
    private let hasSingleKeys: Bool
    /// Whether the end of the input ends the program; `true` unless changed.
    ///
    /// Set it to `false` for a program that ends by itself and reads nothing, whose input may be empty.
    public var endsWithInput = true
    /// The last frame.
    var shown: Frame?
    let session = Session()
    private var hasInputEnded = false
    private weak var queue: InputQueue?

    /// Makes a display on standard input and output.
    public convenience init() { self.init(environment: .process) }

    init(environment: Environment) {
        var abilities = environment.abilities
        abilities.colors = .none
        abilities.hasPointer = false
        abilities.hasLinks = false
        abilities.reportsFocus = false
        abilities.isLinear = true
        abilities.keepsLastFrame = true
        // Every change is a line to hear.
        abilities.reducesMotion = true
        self.abilities = abilities
        session.timing = environment.timing
        hasSingleKeys = environment.isLinear && !environment.isDumb && isatty(STDIN_FILENO) == 1
    }

    /// Begins to read input.
    ///
    /// - Throws: `RunLoop.SystemCallError` if a standard descriptor is not open, or the system refuses something.
    public func open(_ input: InputQueue) throws {
        if hasSingleKeys { try session.claim() }
        let reading = try Device.reopen(STDIN_FILENO, O_RDONLY)
        let writing = try Device.reopen(STDOUT_FILENO, O_WRONLY)
        input.connect(session)
        if hasSingleKeys {
            session.take = { connection, reason in
                try Device.take(
                    connection.input, leaving: "", keepsOutput: true, keepsSettings: reason == .afterRelease)
            }
            session.giveBack = { Device.giveBack() }
        }
        session.handle = { [weak self, weak input] event in
            if event == .hungUp { self?.inputHasEnded() } else { input?.push(event) }
        }
        queue = input
        try session.open(
            input: reading, output: writing, input.loop, input.modes, systemModes: input.systemModes)
        session.connection?.readsLines = !hasSingleKeys
    }

    /// Stops reading and writing; a second call does nothing.
    public func close() {
        queue?.roomHandler = nil
        session.close()
    }

    /// Restores the terminal and stops the processes of the job until the user continues them.
    public func suspend() { session.suspend() }

    /// Sets up the terminal again.
    public func resume() { session.resume() }

    /// Ends the program, but not before it has shown something.
    private func inputHasEnded() {
        hasInputEnded = true
        if shown != nil, endsWithInput { queue?.push(.terminate(signal: nil)) }
    }

    /// Writes the notification as a line.
    public func presentNotification(_ text: String) -> Bool {
        guard session.connection != nil else { return false }
        printLine(text.shown(limit: Application.maxNotificationLength))
        return true
    }

    func printLine(_ text: String) {
        guard let connection = session.connection else { return print(text) }
        let line = text.shown()
        connection.write((abilities.hasUnicode ? line : plain(line)) + "\n")
    }

    // MARK: Frames

    /// Writes the lines that have changed, and the line to which the cursor has moved; returns `busy` while an earlier
    /// write is under way.
    public func present(_ frame: Frame) -> Presentation {
        let isWritten = session.write {
            let lines = lines(of: frame)
            shown = frame
            if hasInputEnded, endsWithInput { queue?.push(.terminate(signal: nil)) }
            return Array(lines.utf8)
        }
        return isWritten ? .taken : .busy
    }

    /// Returns the lines that have changed, and the line to which the cursor has moved: a marked row, or a control with
    /// the focus.
    func lines(of frame: Frame) -> String {
        let old = shown.map { old in (0..<old.cells.height).map { old.cells.text(row: $0) } } ?? []
        let cursorRow = frame.cursor?.y == shown?.cursor?.y ? nil : frame.cursor.map { Int($0.y) }
        var lines = ""
        for row in 0..<frame.cells.height {
            let text = frame.cells.text(row: row)
            if text.isEmpty || row != cursorRow && row < old.count && old[row] == text { continue }
            lines += abilities.hasUnicode ? text : plain(text)
            lines += "\n"
        }
        return lines
    }

    private func plain(_ text: String) -> String {
        String(text.map { $0.isASCII ? $0 : Character(Unicode.Scalar(GlyphBytes.plain($0))) })
    }
}
