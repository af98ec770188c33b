// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsConcurrency
internal import RunLoopsKit

/// A program with a user interface: takes input from its display, sends events to its windows, and draws at most one
/// frame in each turn of the loop.
///
/// Making an application adds its items to the loop of the calling thread: the source of the event queue (order −1), and
/// the observers that decide gestures (0), call the closures of ``CommitTransaction/afterCommit(_:)`` (1,999,000), commit
/// (2,000,000) and drain the release pool.
@MainActor public final class Application: Responder {
    /// The application of this process; nil before one is made.
    public private(set) static weak var current: Application?

    /// The state of the program: whether it is visible, and whether it receives events.
    public enum State: Sendable {
        /// The program is not launched yet, or has ended.
        case notRunning
        /// The program is visible, and receives no events.
        case inactive
        /// The program is visible, and receives events.
        case active
        /// The program is not visible.
        case background
        /// The program is stopped, and none of its code runs.
        case suspended
    }

    /// The state of the program: whether it is visible, and whether it receives events.
    public private(set) var state = State.notRunning
    /// The loop that the application runs on.
    public let loop: RunLoop
    /// The display that shows the program and delivers its input.
    public let display: any Display
    /// Receives the changes of the program's state.
    public let delegate: (any ApplicationDelegate)?
    /// The modes that the loop runs in.
    public let modes: ModeStack
    /// The signal that ended the program, if one did.
    public private(set) var terminationSignal: CInt?

    /// The styles of all views that have no theme of their own; made for the display unless set.
    public var theme: Theme {
        get { ownTheme ?? Theme(for: display.abilities) }
        set {
            ownTheme = newValue
            for window in windows { window.setNeedsDisplayOfTree() }
        }
    }
    private var ownTheme: Theme?

    /// The transaction that lays out, draws and presents the views, once a turn of the loop.
    public let commit: CommitTransaction
    /// Draws the views that have an ``View/asyncDrawing``; uses the threads of Swift's tasks unless set.
    public var drawingExecutor: any DrawingExecutor {
        get { commit.drawings.executor }
        set { commit.drawings.executor = newValue }
    }
    /// Does small work before the loop sleeps, during a drag as well; made when something needs it.
    var idleQueue: RunLoop.IdleQueue {
        if let madeIdleQueue { return madeIdleQueue }
        let queue = RunLoop.IdleQueue(in: [.common], limits: .init(time: .milliseconds(1)))
        madeIdleQueue = queue
        // If the loop is about to sleep, its observers of this moment were taken already.
        loop.wakeUp()
        return queue
    }
    private var madeIdleQueue: RunLoop.IdleQueue?
    let windowStack = WindowStack()
    let gestures: GestureArbiter
    /// The frames of the screen, which drive animations and decelerations.
    package let screenFrames: ScreenFrames
    /// The sessions of the modal runs in progress, the innermost last.
    var modalSessions: [ModalSession] = []
    let animator: Animator
    private var input: InputQueue?
    private var touches = TouchTracker()
    private var presses = PressTracker()
    private let pool: RunLoop.ReleasePool
    private var drawnAbilities = DisplayAbilities()

    /// Makes an application that runs on the loop of the calling thread.
    public init(display: any Display, delegate: (any ApplicationDelegate)? = nil) {
        loop = .current
        self.display = display
        self.delegate = delegate
        let responder = delegate as? Responder
        let hasPlace = responder is View || responder is any ViewOwner || responder is Application
        lastResponder = hasPlace ? nil : responder
        modes = ModeStack(loop)
        pool = RunLoop.ReleasePool()
        gestures = GestureArbiter(loop)
        commit = CommitTransaction(loop, display, windowStack)
        screenFrames = ScreenFrames(display, loop, commit)
        animator = Animator(loop, commit, screenFrames) { [unowned display] in display.abilities.reducesMotion }
        super.init()
        commit.whenPresenting = { [weak animator] in animator?.commitIsPresented(at: $0) }
        commit.whenPresented = { [weak self] in self?.presses.prepare() }
        input = InputQueue(
            loop: loop, modes: [.common], handle: { [weak self] in self?.handleEventQueue() },
            displayIsReady: { [weak commit] in commit?.displayIsReady() },
            screenFrameBegan: { [weak screenFrames] in screenFrames?.began(at: $0, number: $1) })
        gestures.whenDecided = { [weak self] in self?.input?.resume() }
        Self.current = self
    }

    /// The delegate, if it is a responder other than a view, a controller or an application.
    public override var next: Responder? { lastResponder }
    private let lastResponder: Responder?

    override var responderWindow: Window? { keyWindow }

    /// The present instant on the loop's own clock.
    public var now: RunLoop.Instant { loop.clock.now }

    // MARK: Life

    /// Launches the program, and runs the loop until the program ends.
    ///
    /// - Throws: The error of the display, if it cannot be opened; the error of the system, if it refuses a descriptor for
    ///   one of the loop's modes.
    public func run() throws {
        try launch()
        run(until: nil)
    }

    /// Opens the display and lets the delegate make its windows, in the initialization mode.
    package func launch() throws {
        guard let input, state == .notRunning else { return }
        // Before anything is shown: what the system refuses is thrown here, and not found out in the middle of a drag.
        try loop.addCommonMode(.tracking)
        try display.open(input)
        drawnAbilities = display.abilities
        state = .inactive
        loop.performLocally(in: .initialization) { [self] in finishLaunching() }
        _ = modes.run { _ in loop.runTurn(in: .initialization) }
    }

    private func finishLaunching() {
        // Of windows that were made before: the size was not known until the display was open.
        for window in windows { window.frame = Rect(size: display.size) }
        delegate?.applicationWillFinishLaunching(self)
        delegate?.applicationDidFinishLaunching(self)
        if state == .inactive { becomeActive() }
    }

    /// Runs the loop in the current mode, again and again, until the instant is reached or the program ends.
    package func run(until instant: RunLoop.Instant?) {
        while state != .notRunning {
            if modes.run({ loop.run(in: $0, until: instant) }) == .timedOut { return }
            modes.checkCurrent()
        }
    }

    /// Ends the program: calls the delegate, closes the display, and ends the run of the loop.
    ///
    /// A display that keeps its last frame, such as lines in a pipe, shows the last changes before it is closed.
    ///
    /// The runs that are nested in the application's run, of modal controllers and of the program, end as well.
    public func terminate(signal: CInt? = nil) {
        // The delegate may call this too.
        guard state != .notRunning, !isTerminating else { return }
        isTerminating = true
        terminationSignal = signal
        delegate?.applicationWillTerminate(self)
        if display.abilities.keepsLastFrame { commit.flushLast() }
        state = .notRunning
        display.close()
        input?.invalidate()
        animator.invalidate()
        screenFrames.invalidate()
        madeIdleQueue?.invalidate()
        commit.invalidate()
        gestures.invalidate()
        modes.invalidate()
        pool.invalidate()
        modes.stop(from: 0)
    }

    /// The maximum number of characters of a notification; the rest is left out.
    public nonisolated static let maxNotificationLength = 256

    /// Shows a short text to the user, who may be looking at another window: such as at the end of long work.
    ///
    /// A terminal hands the text to the desktop of its user, also over ssh, if it knows notifications; no terminal says whether it does.
    /// A display of lines writes a line. The text is shown whether or not the program is active: see ``state``.
    ///
    /// - Parameter text: The text; line breaks in it become blanks, and control characters are left out.
    /// - Returns: Whether the display hands the notification on; `false` for an empty text and before the launch too.
    @discardableResult
    public func presentNotification(_ text: String) -> Bool {
        let shown = text.shown(limit: Self.maxNotificationLength)
        return state != .notRunning && !shown.isEmpty && display.presentNotification(shown)
    }

    /// Asks a user who looks at another window to look at this one, such as for an answer that the program waits for.
    ///
    /// A window manager marks the window until it has the focus. A terminal rings its bell, which most terminals show as a mark of the
    /// window or the tab. Does nothing while ``state`` is not inactive.
    ///
    /// - Returns: Whether the display hands the request on.
    @discardableResult
    public func requestUserAttention() -> Bool { state == .inactive && display.requestUserAttention() }

    private func becomeActive() {
        state = .active
        delegate?.applicationDidBecomeActive(self)
    }

    // The delegate and the responders may call all of this again, or end the program: each state is looked at again
    // after a call.
    private var isTerminating = false
    private var isResigning = false
    private var isSuspending = false

    private func resignActive() {
        guard state == .active, !isResigning else { return }
        isResigning = true
        delegate?.applicationWillResignActive(self)
        isResigning = false
        if state == .active { state = .inactive }
    }

    /// Stops the program until the user continues it, as Ctrl-Z does.
    public func suspend() {
        guard state == .active || state == .inactive, !isSuspending else { return }
        isSuspending = true
        defer { isSuspending = false }
        cancelTouches()
        cancelPresses()
        resignActive()
        guard state == .active || state == .inactive else { return }
        state = .background
        delegate?.applicationDidEnterBackground(self)
        guard state == .background else { return }
        state = .suspended
        display.suspend()
    }

    private func goOn() {
        guard state == .suspended else { return }
        state = .background
        display.resume()
        delegate?.applicationWillEnterForeground(self)
        guard state == .background else { return }
        state = .inactive
        commit.damageAll()
        becomeActive()
    }

    // MARK: Events

    /// Handles the system's requests in the middle of long work on the main thread: to end, stop, continue or resize the
    /// program.
    ///
    /// The method runs the loop in the mode `RunLoop.Mode.eventReceive`, without waiting, and then shows changed views, at
    /// most 60 times a second. No timer fires, and no task of the main actor runs. Keys, touches and pasted text wait, and
    /// are handled in their order when the work is over.
    ///
    /// ```swift
    /// for file in files {
    ///     compress(file)
    ///     bar.progress += 1 / Double(files.count)
    ///     guard application.receiveSystemEvents() else { return }
    /// }
    /// ```
    ///
    /// In a terminal the requests are signals, such as SIGTERM, SIGHUP when the terminal is closed, and SIGWINCH; Ctrl-C and
    /// Ctrl-Z are keys there, and wait. In a window the requests are signals, the close button and a new size. A window that
    /// has received ``InputQueue/capacity`` inputs of the user reads no further events before the work is over.
    ///
    /// The method calls the delegate and the views, and draws: call it where their state is consistent.
    ///
    /// Corresponds to a run of Apple's main loop in `GSEventReceiveRunLoopMode`.
    ///
    /// - Returns: Whether the program continues; `false` once it has ended.
    @discardableResult
    public func receiveSystemEvents() -> Bool {
        guard let input, state != .notRunning else { return false }
        loop.runUntilIdle(in: .eventReceive)
        guard state != .notRunning else { return false }
        // For the loop's next turn in another mode.
        input.resume()
        commit.flush()
        return state != .notRunning
    }

    /// Handles the inputs of the system in the queue, and leaves those of the user.
    private func handleSystemEvents() {
        while state != .notRunning, let next = input?.takeSystemInput() { handle(next) }
        input?.tellRoom()
    }

    /// Adds an input to the event queue, as the display does.
    ///
    /// With this method a script, a macro or a test can act as the user: the input is handled in the next turn, like an
    /// input of the display.
    public func push(_ input: RawInput) { self.input?.push(input) }

    /// Turns the inputs in the queue into events, and sends the events; called by the source of the queue.
    private func handleEventQueue() {
        guard let input else { return }
        if loop.currentMode == .eventReceive { return handleSystemEvents() }
        // Inputs that come meanwhile are for the next turn.
        var left = input.count
        while left > 0, state != .notRunning, let next = input.first {
            if case .pointer(let pointer) = next, pointer.phase == .began {
                if let end = touches.end(lostBefore: pointer) {
                    handle(.pointer(end))
                    // The views were called, and may have run the loop: the next input may be another one.
                    continue
                }
                // The gestures of one sequence of touches are decided before the next one begins. The source is not
                // signalled: a loop with a signalled source would not come to the observers before it sleeps.
                if gestures.isPending { break }
            }
            input.removeFirst()
            left -= 1
            handle(next)
        }
        input.tellRoom()
    }

    private func handle(_ input: RawInput) {
        guard state != .notRunning else { return }
        switch input {
        case .pointer(let pointer): handle(pointer)
        case .wheel(let wheel):
            guard let window = windowStack.window(at: wheel.position) else { return }
            sendEvent(
                Event(
                    .wheel, at: now, modifiers: wheel.modifiers,
                    wheel: Wheel(notches: wheel.notches, window: window, position: wheel.position)))
        case .key(let key): handle(key)
        case .paste(let text, let isLast):
            sendEvent(Event(.paste, at: now, pasted: Paste(text: text, isLast: isLast)))
        case .focus(true): if state == .inactive { becomeActive() }
        case .focus(false):
            cancelPresses()
            resignActive()
        case .resized(let size):
            for window in windows { window.changeSize(to: size) }
            drawAgainIfAbilitiesChanged()
            commit.damageAll()
        case .suspend: suspend()
        case .resumed: goOn()
        case .terminate(let signal): terminate(signal: signal)
        }
    }

    private func handle(_ input: PointerInput) {
        var hit: (Window, View?)?
        if touches.begins(input) {
            guard let window = windowStack.window(at: input.position) else { return }
            // The views are asked before anything of the touches is changed: they may suspend the program, or run the
            // loop.
            let view = window.hitTest(window.convert(input.position, from: nil), with: nil)
            guard state != .notRunning, state != .suspended, touches.begins(input) else { return }
            hit = (window, view)
        }
        if let event = touches.event(for: input, hit: hit, at: now) { sendEvent(event) }
    }

    /// Has all views drawn again if the display's abilities have changed; a display that learns its abilities reports a
    /// resize.
    private func drawAgainIfAbilitiesChanged() {
        if display.abilities == drawnAbilities { return }
        drawnAbilities = display.abilities
        for window in windows { window.setNeedsDisplayOfTree() }
    }

    private func handle(_ input: KeyInput) {
        guard let (press, changed) = presses.press(for: input) else { return }
        let instant = now
        send(changed, press.phase, at: instant)
        // Nobody will say when the key goes up. A responder may have ended the key with the focus of the window.
        if display.abilities.reportsKeyEnds || press.phase == .ended || press.phase == .cancelled { return }
        presses.end(press)
        send(changed, press.phase, at: instant)
    }

    private func send(_ presses: Set<Press>, _ phase: Press.Phase, at instant: RunLoop.Instant) {
        let modifiers = presses.first?.modifiers ?? []
        sendEvent(Event(.presses, at: instant, modifiers: modifiers, presses: presses, in: phase))
    }

    /// Cancels the presses of all keys that are held; called while the window that received the presses is still the key
    /// window.
    func cancelPresses() {
        let cancelled = presses.cancel()
        if !cancelled.isEmpty { send(cancelled, .cancelled, at: now) }
    }

    private func cancelTouches() {
        for pointer in touches.inputs(ending: .cancelled) {
            if let event = touches.event(for: pointer, at: now) { sendEvent(event) }
        }
    }

    /// Sends an event to the windows that it is for.
    public func sendEvent(_ event: Event) {
        switch event.kind {
        case .touches:
            var told: [Window] = []
            for touch in event.touches where !told.contains(where: { $0 === touch.window }) {
                told.append(touch.window)
                touch.window.sendEvent(event)
            }
        case .wheel: event.wheel?.window.sendEvent(event)
        case .presses, .paste: keyWindow?.sendEvent(event)
        }
    }

    /// Sends a command along the chain, from a target or the first responder.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - target: The responder at which the chain begins; the first responder if `nil`.
    ///   - sender: The object that sends the command.
    /// - Returns: Whether a responder has carried out the command.
    @discardableResult
    public func send(_ command: Command, to target: Responder? = nil, from sender: AnyObject? = nil) -> Bool {
        let start = target ?? keyWindow?.firstResponder ?? keyWindow?.rootOwner?.view ?? keyWindow ?? self
        guard let responder = start.target(for: command) else { return false }
        responder.perform(command, from: sender)
        return true
    }

    // MARK: The end of the chain

    public override func canPerform(_ command: Command) -> Bool { command == .quit }

    public override func perform(_ command: Command, from sender: AnyObject?) {
        if command == .quit { terminate() }
    }

    /// Ends the program for Ctrl-C and stops it for Ctrl-Z, if no earlier responder of the chain has used the keys.
    public override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses where press.modifiers == .control {
            if press.key == .character("c") { terminate() }
            if press.key == .character("z") { suspend() }
        }
        super.pressesBegan(presses, with: event)
    }
}
