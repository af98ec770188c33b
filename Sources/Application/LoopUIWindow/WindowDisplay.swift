// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIXCB
public import LoopUI
internal import RunLoops
internal import RunLoopsEvents

/// A window of the X server as the display of an application: the same program runs here and in a terminal.
///
/// A point is a cell of a monospace font, as in a terminal; positions of the pointer have fractions of points. Only cells
/// that have changed are drawn again. While the server has not answered to a frame, the window takes no further frame, so
/// the program never waits for a slow or stopped server and no queue grows. Keys are reported when they go down, repeat
/// and go up, with the user's layout and dead keys. Ctrl-Shift-V pastes the clipboard, and Shift-Insert pastes the text
/// that was marked last; text that the program copies is on the clipboard for other programs.
///
/// Each finger on a touch screen is a touch of its own, so that two fingers can pinch. A server without XInput 2.2
/// reports the first finger as the left button.
@MainActor public final class WindowDisplay: Display {
    /// The size of the window, in whole cells.
    public private(set) var size: Size
    /// The abilities of the window, which include pictures and the ends of keys.
    public private(set) var abilities = DisplayAbilities.window

    private let font: String
    private let theme: WindowTheme
    private let serverName: String?

    private var server: ServerWindow?
    private var painter: CellPainter?
    private var keyboard: Keyboard?
    private var shortcut = PasteShortcut()
    private var pointer = PointerTranslator(cell: Size(1, 1))
    private var queue: InputQueue?
    private var items: [RunLoop.Item] = []
    private var signals: [SignalSource] = []

    private var picture: ServerPicture?
    /// The size of the window, in pixels.
    private var extent = Size(0, 0)
    /// The last frame, which is on the picture; the cursor is drawn again when the focus changes.
    private var frame = Frame(cells: CellGrid(width: 0, height: 0))
    private var cursor: Cursor?
    private var isFocused = false
    /// Whether the application was informed that the window has the focus; true at the beginning.
    private var hasAttention = true
    /// The number of the answer that comes when the server has drawn the last frame.
    private var awaited: UInt32?
    private var hasRefused = false
    /// Whether the window has the urgency hint.
    private var isUrgent = false
    private var isBroken = false
    private var clock: PresentClock?
    /// Whether the frames of the screen are asked for where the server counts them; tests of the fallback say no.
    package var usesScreenFrames = true

    /// Makes a window that the application opens when it launches.
    ///
    /// - Parameters:
    ///   - size: The first size of the window, in cells; the window manager may choose another one.
    ///   - font: The family, the style and the size of a monospace font in typographic points, in the form that Pango
    ///     reads.
    ///   - theme: The default colours and the first 16 of the palette.
    ///   - server: The name of the X server; the value of `DISPLAY` if `nil`.
    public init(
        size: Size = Size(80, 24), font: String = "monospace 12", theme: WindowTheme = .dark, server: String? = nil
    ) {
        self.size = Size(max(1, size.width.rounded()), max(1, size.height.rounded()))
        self.font = font
        self.theme = theme
        serverName = server
    }

    // MARK: Display

    /// Connects to the server and shows the window, empty.
    ///
    /// - Throws: ``WindowDisplayError`` if the window cannot be opened.
    public func open(_ input: InputQueue) throws {
        let (connection, screen) = try ServerWindow.connect(to: serverName)
        let fonts: FontBook
        let keyboard: Keyboard
        do {
            fonts = try FontBook(font, resolution: ServerWindow.resolution(connection, screen: screen))
            keyboard = try Keyboard(connection)
        } catch {
            xcb_disconnect(connection)
            throw error
        }
        let cell = fonts.cell
        abilities.pointAspect = cell.height / cell.width
        extent = Size(min(size.width * cell.width, 32767), min(size.height * cell.height, 32767))
        let server = try ServerWindow(
            connection, screen: screen, size: extent, cell: cell, background: theme.background,
            program: WindowProgram.name,
            keyboardEvent: keyboard.event)
        self.keyboard = keyboard
        painter = CellPainter(fonts: fonts, theme: theme)
        pointer = PointerTranslator(cell: cell)
        queue = input
        self.server = server
        clock = usesScreenFrames ? PresentClock(server, input) : nil
        do {
            try addItems(input, server)
        } catch {
            close()
            throw error
        }
        Pasteboard.general.changeHandler = { [weak self] _ in self?.server?.ownClipboard() }
        server.map()
        server.flush()
    }

    private func addItems(_ input: InputQueue, _ server: ServerWindow) throws {
        let source = RunLoop.DescriptorSource(
            xcb_get_file_descriptor(server.connection), label: "X server"
        ) { [weak self] _, _ in self?.read(isReading: true) }
        // Whoever talks to the server may have read events beside an answer. They are in xcb's own queue, and the
        // descriptor says nothing of them; the last look before the loop sleeps finds them.
        let observer = RunLoop.Observer(.beforeWaiting, order: .max, label: "X events") { [weak self] _, _ in
            self?.read(isReading: false)
        }
        items = [source, observer]
        input.roomHandler = { [weak self] in self?.read(isReading: true) }
        for mode in input.systemModes {
            try input.loop.add(source, in: mode)
            input.loop.add(observer, in: mode)
        }
        signals = try input.addTerminationSignals()
    }

    /// Draws the cells that have changed, unless the server is still drawing the last frame.
    public func present(_ frame: Frame) -> Presentation {
        guard let server, !server.isBroken else { return .taken }
        noteAnswer()
        if awaited != nil {
            hasRefused = true
            return .busy
        }
        draw(frame, on: server)
        if let title = frame.title, title != self.frame.title { server.setTitle(title) }
        let title = frame.title ?? self.frame.title
        self.frame = frame
        self.frame.title = title
        awaited = server.askForAnswer()
        server.flush()
        return .taken
    }

    /// Asks the server for the next frame of the window's screen, if it counts them (extension Present).
    public func requestScreenFrame() -> Bool {
        guard let clock, let server, !server.isBroken else { return false }
        clock.request()
        return true
    }

    /// Sets the urgency hint of the window, with which window managers mark it, until it has the focus.
    public func requestUserAttention() -> Bool {
        guard let server, !server.isBroken else { return false }
        server.setUrgent(true)
        server.flush()
        isUrgent = true
        return true
    }

    /// Has the program continue at once, since a window has no device to release.
    public func suspend() { queue?.push(.resumed) }

    /// Does nothing; the application sends a whole frame.
    public func resume() {}

    /// Closes the window and leaves the server.
    public func close() {
        if server != nil { Pasteboard.general.changeHandler = nil }
        for item in items { item.invalidate() }
        for signal in signals { signal.invalidate() }
        (items, signals) = ([], [])
        clock = nil
        picture?.free(isLast: true)
        picture = nil
        server?.close()
        server = nil
        queue = nil
    }

    // MARK: Drawing

    private func draw(_ frame: Frame, on server: ServerWindow) {
        guard let painter else { return }
        let cursor = Cursor(frame.cursor, in: frame.cells, isBlock: isFocused)
        var old = self.frame.cells
        if picture == nil || picture?.width != Int(extent.width) || picture?.height != Int(extent.height) {
            let new = server.makePicture(width: Int(extent.width), height: Int(extent.height))
            painter.clear(new.drawing)
            picture?.free(isLast: false)
            picture = new
            old = CellGrid(width: 0, height: 0)
        }
        guard let picture else { return }
        let cursors = cursor == self.cursor ? [] : [cursor, self.cursor].compactMap { $0?.place }
        self.cursor = cursor
        painter.pictures.placed = frame.pictures
        let spans = CellSpan.changes(from: old, to: frame.cells, cursors: cursors)
        let areas = spans.map { painter.draw($0, of: frame.cells, cursor: cursor, on: picture.drawing) }
        picture.finishDrawing()
        if old.width != frame.cells.width || old.height != frame.cells.height {
            server.show(PixelRect(x: 0, y: 0, width: picture.width, height: picture.height), of: picture)
        } else {
            for area in areas { server.show(area, of: picture) }
        }
    }

    // MARK: Events

    /// Handles the events that are here, and the server's answer to the last frame.
    private func read(isReading: Bool) {
        guard let server, !isBroken else { return }
        // A look for the answer may read events, and handling an event may read the answer. What xcb has read wakes
        // nobody, so neither look is the last until both have found nothing.
        repeat { noteAnswer() } while handleEvents(server, isReading: isReading)
        // Handling may have closed the window.
        if self.server != nil, server.isBroken {
            isBroken = true
            for item in items { item.invalidate() }
            queue?.push(.terminate(signal: nil))
        }
    }

    /// Handles the events that are here; returns whether there was any.
    private func handleEvents(_ server: ServerWindow, isReading: Bool) -> Bool {
        var hasHandled = false
        // What a full queue has no room for stays with xcb and the server, and is read when there is room.
        while self.server != nil, queue?.isFull != true, let event = server.takeEvent(isReading: isReading) {
            handle(event, server)
            hasHandled = true
        }
        return hasHandled
    }

    private func noteAnswer() {
        guard let number = awaited, let server, server.hasAnswer(number) else { return }
        awaited = nil
        if hasRefused {
            hasRefused = false
            queue?.displayIsReady()
        }
    }

    private func handle(_ event: ServerEvent, _ server: ServerWindow) {
        switch event {
        case .button(let number, let isDown, let pixel, let state):
            if let input = pointer.button(number, isDown: isDown, at: pixel, state: state) { queue?.push(input) }
        case .pointerMoved(let pixel, let state):
            for input in pointer.moved(to: pixel, state: state) { queue?.push(input) }
        case .touch(let number, let phase, let pixel, let state):
            if let input = pointer.touch(number, phase, at: pixel, state: state) { queue?.push(input) }
        case .key(let code, let isDown, let state):
            if let input = keyboard?.input(code: UInt32(code), isDown: isDown, state: state) { handle(input, server) }
        case .focus(let isFocused): focusChanges(to: isFocused)
        case .unmapped:
            for input in pointer.cancel() { queue?.push(input) }
            focusChanges(to: false)
        case .resized(let width, let height): resize(Size(Double(width), Double(height)))
        case .exposed(let area):
            if let picture { server.show(area, of: picture) }
            server.flush()
        case .closeButton: queue?.push(.terminate(signal: nil))
        case .destroyed: queue?.push(.terminate(signal: nil))
        case .keyboardChanged: keyboard?.reload(server.connection)
        case .selection(let isThere):
            if isThere, let text = server.takeSelection() { queue?.push(.paste(text, isLast: true)) }
        case .selectionAsked(let question): server.answer(question, with: Pasteboard.general.text)
        case .frame(let serial, let microseconds, let number):
            clock?.reported(serial: serial, microseconds: microseconds, number: number)
        case .ping: break
        }
    }

    private func handle(_ input: KeyInput, _ server: ServerWindow) {
        let (isTaken, pasted) = shortcut.take(input)
        if !isTaken { queue?.push(.key(input)) }
        if let pasted { server.ask(for: pasted) }
    }

    private func focusChanges(to isFocused: Bool) {
        if isFocused != hasAttention {
            hasAttention = isFocused
            queue?.push(.focus(isFocused))
        }
        if isFocused == self.isFocused { return }
        self.isFocused = isFocused
        if isFocused, isUrgent {
            isUrgent = false
            server?.setUrgent(false)
            server?.flush()
        }
        keyboard?.forgetHeld()
        shortcut.cancel()
        drawCursorAgain()
    }

    /// Draws the cursor again: a block while the window has the focus, otherwise a frame.
    private func drawCursorAgain() {
        guard let server, let painter, let picture, let old = cursor else { return }
        let new = Cursor(place: old.place, isBlock: isFocused)
        cursor = new
        let span = CellSpan(row: old.place.row, columns: old.place.column..<old.place.column + 1)
        let area = painter.draw(
            span.wholeCharacters(in: frame.cells), of: frame.cells, cursor: new, on: picture.drawing)
        picture.finishDrawing()
        server.show(area, of: picture)
        server.flush()
    }

    private func resize(_ extent: Size) {
        guard let painter, extent != self.extent else { return }
        self.extent = extent
        let cell = painter.fonts.cell
        let size = Size(
            max(1, (extent.width / cell.width).rounded(.down)), max(1, (extent.height / cell.height).rounded(.down)))
        // Also if the cells are as many as before: the picture has to be made anew.
        self.size = size
        queue?.push(.resized(size))
    }
}
#endif
