// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import CLoopUIXCB
public import LoopUI
internal import RunLoops
internal import RunLoopsEvents

/// A window of a Wayland compositor as the display of an application: the same program runs here, in a window of the X
/// server and in a terminal.
///
/// A point is a cell of a monospace font, as in a ``WindowDisplay``, and keys, the pointer and fingers are reported in
/// the same way. Only cells that have changed are drawn and copied again, and the compositor receives their
/// rectangles. While the compositor reads both buffers, the window takes no further frame, so the program never waits
/// for a slow or stopped compositor and no queue grows.
///
/// The compositor draws the title bar if it offers to (xdg-decoration); otherwise the window has none. Ctrl-Shift-V
/// and Shift-Insert paste the clipboard, and text that the program copies is on the clipboard for other programs.
///
/// On a screen with a scale, letters are drawn with the pixels of the screen. A window on several screens has the greatest
/// of their scales.
@MainActor public final class WaylandDisplay: Display {
    /// The size of the window, in whole cells.
    public private(set) var size: Size
    /// The abilities of the window, which include pictures and the ends of keys.
    public private(set) var abilities = DisplayAbilities.window

    private let font: String
    private let theme: WindowTheme
    private let compositorName: String?

    private var connection: CompositorConnection?
    private var surface: CompositorSurface?
    private var shm: OpaquePointer?
    private var compositor: OpaquePointer?
    private var seat: CompositorSeat?
    private var clock: FrameCallbackClock?
    private var image: PointerImage?
    private var painter: CellPainter?
    private var queue: InputQueue?
    private var source: RunLoop.DescriptorSource?
    private var observer: RunLoop.Observer?
    private var signals: [SignalSource] = []

    private var picture: MemoryPicture?
    private var buffers: SharedBuffers?
    /// Buffers of earlier sizes that the compositor may be reading.
    private var oldBuffers: [SharedBuffers] = []
    /// The parts of the picture that have changed since a buffer was last shown.
    private var changes = DamagedArea()
    /// The size of the window, in units of its surface.
    private var extent = SurfaceSize(width: 1, height: 1)
    /// The scales of the screens.
    private var scales = OutputScales()
    /// The size that comes with the next configuration.
    private var suggestion: SurfaceSize?
    /// The last frame, which is on the picture; the cursor is drawn again when the focus changes.
    private var frame = Frame(cells: CellGrid(width: 0, height: 0))
    private var cursor: Cursor?
    private var isFocused = false
    /// Whether the application was informed that the window has the focus; true at the beginning.
    private var hasAttention = true
    private var hasRefused = false
    private var isBroken = false
    /// Whether the frames of the screen are asked for; tests of the fallback say no.
    package var usesScreenFrames = true

    /// Makes a window that the application opens when it launches.
    ///
    /// - Parameters:
    ///   - size: The first size of the window, in cells; the compositor may choose another one.
    ///   - font: The family, the style and the size of a monospace font in typographic points, in the form that Pango
    ///     reads.
    ///   - theme: The default colours and the first 16 of the palette.
    ///   - compositor: The name of the compositor's socket in `XDG_RUNTIME_DIR`, or the socket's path; the value of
    ///     `WAYLAND_DISPLAY` if `nil`, and `wayland-0` without one.
    public init(
        size: Size = Size(80, 24), font: String = "monospace 12", theme: WindowTheme = .dark, compositor: String? = nil
    ) {
        self.size = Size(max(1, size.width.rounded()), max(1, size.height.rounded()))
        self.font = font
        self.theme = theme
        compositorName = compositor
    }

    /// Makes a window on a compositor that has answered.
    convenience init(_ connection: CompositorConnection, size: Size, font: String, theme: WindowTheme) {
        self.init(size: size, font: font, theme: theme)
        self.connection = connection
    }

    // MARK: Display

    /// Connects to the compositor, and asks it for a window.
    ///
    /// The window is shown with the first frame. The call waits for the compositor, for three seconds at most.
    ///
    /// - Throws: ``WindowDisplayError`` if the window cannot be opened.
    public func open(_ input: InputQueue) throws {
        let connection = try self.connection ?? CompositorConnection(to: compositorName)
        self.connection = connection
        do {
            try open(input, connection)
        } catch {
            close()
            throw error
        }
    }

    private func open(_ input: InputQueue, _ connection: CompositorConnection) throws {
        // Wayland has no resolution of text: letters are as large as on a screen of 96 pixels an inch.
        let fonts = try FontBook(font, resolution: 96)
        let cell = fonts.cell
        func bind(_ interface: String, _ maxVersion: UInt32) throws(WindowDisplayError) -> OpaquePointer {
            guard let object = connection.bind(interface, maxVersion: maxVersion) else {
                throw .noInterface(interface)
            }
            return object
        }
        let compositor = try bind("wl_compositor", 4)
        let shm = try bind("wl_shm", 1)
        let base = try bind("xdg_wm_base", 1)
        (self.compositor, self.shm) = (compositor, shm)
        abilities.pointAspect = cell.height / cell.width
        func pixels(_ cells: Double, _ cell: Double) -> Int { Int(min(cells * cell, Double(SurfaceSize.maxSide))) }
        extent = SurfaceSize(width: pixels(size.width, cell.width), height: pixels(size.height, cell.height))
        guard
            let surface = CompositorSurface(
                connection, compositor, base, program: WindowProgram.name, cell: cell)
        else { throw WindowDisplayError.noInterface("xdg_wm_base") }
        self.surface = surface
        painter = CellPainter(fonts: fonts, theme: theme)
        queue = input
        image = PointerImage(compositor, shm)
        seat = makeSeat(connection, input, cell)
        clock = usesScreenFrames ? FrameCallbackClock(connection, surface, input) : nil
        for (name, global) in connection.globals { listenToOutput(name, global, connection) }
        connection.handler = { [weak self] event, object in self?.handle(event, object) }
        try addItems(input, connection)
        Pasteboard.general.changeHandler = { [weak self] _ in self?.seat?.ownClipboard() }
        flush()
    }

    private func makeSeat(_ connection: CompositorConnection, _ input: InputQueue, _ cell: Size) -> CompositorSeat? {
        CompositorSeat(connection, input, cell: cell, image: image) { [weak self] in self?.focusChanges(to: $0) }
    }

    /// Has the rate and the scale of an output reported.
    private func listenToOutput(
        _ name: UInt32, _ global: CompositorConnection.Global, _ connection: CompositorConnection
    ) {
        guard global.interface == "wl_output" else { return }
        connection.listen(to: connection.bind(name, global, maxVersion: 2), as: .output)
    }

    private func addItems(_ input: InputQueue, _ connection: CompositorConnection) throws {
        let source = RunLoop.DescriptorSource(
            connection.descriptor, label: "Wayland compositor"
        ) { [weak self] _, _ in self?.read() }
        // Sends what the turn has asked for, and handles what was read beside an answer.
        let observer = RunLoop.Observer(.beforeWaiting, order: .max, label: "Wayland requests") { [weak self] _, _ in
            self?.connection?.dispatch()
            self?.flush()
        }
        (self.source, self.observer) = (source, observer)
        input.roomHandler = { [weak self] in self?.read() }
        for mode in input.systemModes {
            try input.loop.add(source, in: mode)
            input.loop.add(observer, in: mode)
        }
        signals = try input.addTerminationSignals()
    }

    /// Draws the cells that have changed, unless the compositor reads both buffers or has not configured the window.
    public func present(_ frame: Frame) -> Presentation {
        guard let connection, let surface, !connection.isBroken else { return .taken }
        guard surface.isConfigured, !connection.isBackedUp, oldBuffers.count < 2, prepareBuffers(connection),
            let buffer = buffers?.free
        else {
            hasRefused = true
            return .busy
        }
        draw(frame)
        if let title = frame.title, title != self.frame.title { surface.setTitle(title) }
        let title = frame.title ?? self.frame.title
        self.frame = frame
        self.frame.title = title
        show(buffer, on: surface)
        flush()
        return .taken
    }

    /// Asks the compositor for the next frame of the window's screen.
    public func requestScreenFrame() -> Bool {
        guard let clock, let connection, !connection.isBroken else { return false }
        clock.request()
        return true
    }

    /// Has the program continue at once, since a window has no device to release.
    public func suspend() { queue?.push(.resumed) }

    /// Does nothing; the application sends a whole frame.
    public func resume() {}

    /// Closes the window and leaves the compositor.
    public func close() {
        source?.invalidate()
        observer?.invalidate()
        for signal in signals { signal.invalidate() }
        (source, observer, signals) = (nil, nil, [])
        seat?.cancel()
        if surface != nil { Pasteboard.general.changeHandler = nil }
        if let connection, !connection.isBroken {
            for buffers in oldBuffers { buffers.destroy() }
            buffers?.destroy()
            image?.destroy()
            surface?.destroy()
            connection.flush()
        }
        connection?.close()
        (connection, surface, seat, clock, image, buffers, oldBuffers, queue) = (nil, nil, nil, nil, nil, nil, [], nil)
        (compositor, shm, picture) = (nil, nil, nil)
    }

    // MARK: Drawing

    /// The scale that a picture of the window has now.
    private var scale: Int { surface?.mayScale == true ? extent.scale(scales.greatest) : 1 }

    /// Whether the picture has the size and the scale of the window.
    private var hasRightPicture: Bool {
        guard let picture else { return false }
        return picture.width == extent.width && picture.height == extent.height && picture.scale == scale
    }

    /// Makes the picture and its buffers, if the window has another size or scale than these; returns false without memory.
    private func prepareBuffers(_ connection: CompositorConnection) -> Bool {
        if hasRightPicture { return true }
        guard let shm, let new = MemoryPicture(width: extent.width, height: extent.height, scale: scale),
            let newBuffers = SharedBuffers(connection, shm, for: new)
        else { return false }
        if let buffers {
            if buffers.isBusy { oldBuffers.append(buffers) } else { buffers.destroy() }
        }
        painter?.clear(new.drawing)
        (picture, buffers) = (new, newBuffers)
        // All cells are drawn anew.
        frame.cells = CellGrid(width: 0, height: 0)
        changes = DamagedArea([new.area])
        return true
    }

    private func draw(_ frame: Frame) {
        guard let painter, let picture else { return }
        let cursor = Cursor(frame.cursor, in: frame.cells, isBlock: isFocused)
        let old = self.frame.cells
        let cursors = cursor == self.cursor ? [] : [cursor, self.cursor].compactMap { $0?.place }
        self.cursor = cursor
        painter.pictures.placed = frame.pictures
        for span in CellSpan.changes(from: old, to: frame.cells, cursors: cursors) {
            changes.insert(painter.draw(span, of: frame.cells, cursor: cursor, on: picture.drawing))
        }
        picture.finishDrawing()
        if old.width != frame.cells.width || old.height != frame.cells.height {
            changes = DamagedArea([picture.area])
        }
    }

    /// Copies the changes to a buffer, and shows it.
    private func show(_ buffer: SharedBuffers.Buffer, on surface: CompositorSurface) {
        guard let picture else { return }
        buffers?.write(buffer, from: picture, changes: changes)
        surface.show(buffer.object, scale: picture.scale, changes: changes)
        clock?.shown()
        changes = DamagedArea()
    }

    /// Draws the cursor again: a block while the window has the focus, otherwise a frame.
    private func drawCursorAgain() {
        guard let painter, let picture, let old = cursor else { return }
        let new = Cursor(place: old.place, isBlock: isFocused)
        let span = CellSpan(row: old.place.row, columns: old.place.column..<old.place.column + 1)
        // The picture has another size until the next frame.
        guard old.place.row < frame.cells.height, old.place.column < frame.cells.width else { return }
        cursor = new
        changes.insert(
            painter.draw(span.wholeCharacters(in: frame.cells), of: frame.cells, cursor: new, on: picture.drawing))
        picture.finishDrawing()
        showChanges()
    }

    /// Shows what was drawn outside of a frame, as soon as there is a buffer for it.
    private func showChanges() {
        guard let surface, let connection, !changes.isEmpty, !connection.isBackedUp, surface.isConfigured,
            hasRightPicture, let buffer = buffers?.free
        else { return }
        show(buffer, on: surface)
    }

    // MARK: Events

    private func read() {
        guard let connection, !isBroken else { return }
        // The source is called again in the next turn, when the program has handled some of the inputs.
        if queue?.isFull == true { return }
        connection.read()
        flush()
    }

    /// Sends the requests that wait; watches for room if the compositor does not read, and for its end.
    private func flush() {
        guard let connection, !isBroken else { return }
        connection.flush()
        if connection.isBroken {
            isBroken = true
            source?.invalidate()
            observer?.invalidate()
            queue?.push(.terminate(signal: nil))
            return
        }
        let events: RunLoop.DescriptorEvents = connection.isBackedUp ? [.readable, .writable] : .readable
        guard let source, source.events != events else { return }
        source.events = events
        if !connection.isBackedUp { continueFrames() }
    }

    /// Has the application send the frame that was refused, or shows what was drawn meanwhile.
    private func continueFrames() {
        if hasRefused {
            hasRefused = false
            queue?.displayIsReady()
        } else {
            showChanges()
        }
    }

    private func handle(_ event: CompositorEvent, _ object: OpaquePointer) {
        switch event {
        case .ping(let serial): surface?.answerPing(serial)
        case .suggestedSize(let width, let height):
            suggestion =
                width > 0 && height > 0
                ? SurfaceSize(width: width, height: height) : nil
        case .configured(let serial): configure(serial)
        case .closeButton: queue?.push(.terminate(signal: nil))
        case .entered(let output):
            clock?.enter(output)
            changeScales { $0.enter(output) }
        case .left(let output): changeScales { $0.leave(output) }
        case .scale(let scale): changeScales { $0.set(scale, of: object) }
        case .released: noteRelease(of: object)
        case .done(let time):
            if clock?.done(object, at: time) == true { return }
            _ = seat?.done(object)
        case .frameRate(let rate): clock?.setRate(rate, of: object)
        // Without a seat, an event is of one that has gone.
        case .seat(let seatEvent): if let seat { seat.handle(seatEvent) } else { event.discard() }
        case .clipboard(let change): if let seat { seat.handle(change, of: object) } else { event.discard() }
        case .global(let name, _, _):
            // A screen, or the first keyboard, that is plugged in while the program runs.
            guard let connection, let queue, let painter, let global = connection.globals[name] else { return }
            listenToOutput(name, global, connection)
            if seat == nil { seat = makeSeat(connection, queue, painter.fonts.cell) }
        case .globalRemoved(let name):
            guard let seat, seat.name == name else { return }
            seat.cancel()
            self.seat = nil
            focusChanges(to: false)
        }
    }

    /// Changes what is known of the screens, and has the application send a whole frame if the window's scale is another one.
    private func changeScales(_ change: (inout OutputScales) -> Void) {
        change(&scales)
        // Without a picture, the first frame has the scale.
        if picture != nil, !hasRightPicture { queue?.push(.resized(size)) }
    }

    private func configure(_ serial: UInt32) {
        guard let surface else { return }
        let new = suggestion ?? extent
        let isShown = new == extent && hasRightPicture
        surface.configure(serial, isShown: isShown)
        resize(new)
        if !isShown, hasRefused { continueFrames() }
    }

    private func resize(_ extent: SurfaceSize) {
        guard let painter, extent != self.extent else { return }
        self.extent = extent
        let cell = painter.fonts.cell
        // Also if the cells are as many as before: the picture has to be made anew.
        size = Size(
            max(1, (Double(extent.width) / cell.width).rounded(.down)),
            max(1, (Double(extent.height) / cell.height).rounded(.down)))
        queue?.push(.resized(size))
    }

    private func noteRelease(of object: OpaquePointer) {
        if buffers?.noteRelease(of: object) != true {
            for old in oldBuffers where old.noteRelease(of: object) && !old.isBusy { old.destroy() }
            oldBuffers.removeAll { !$0.isBusy }
        }
        continueFrames()
    }

    private func focusChanges(to isFocused: Bool) {
        if isFocused != hasAttention {
            hasAttention = isFocused
            queue?.push(.focus(isFocused))
        }
        if isFocused == self.isFocused { return }
        self.isFocused = isFocused
        drawCursorAgain()
    }
}
#endif
