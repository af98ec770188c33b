// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops

/// The common part of all users of a terminal: the connection to the device, its size, one frame at a time, signals,
/// and stops of the process.
@MainActor package final class Session {
    /// The largest size in columns and rows, which no screen exceeds; a terminal can report 65,535 columns and as many
    /// rows, and a frame of this size would take gigabytes.
    static let largest = Size(columns: 1000, rows: 400)

    /// The number of columns and rows; 80 by 24 if the terminal does not report them.
    package private(set) var size = RawTerminal.Size(columns: 80, rows: 24)
    /// The connection to the device, from `open` to `close()`.
    package private(set) var connection: Connection?
    package private(set) var isSuspended = false
    private var signals: Signals?
    private var hasRefused = false

    /// The reason for taking the device.
    package enum Taking {
        /// The display is opened, or the process continues after a stop before which the device was given back.
        case anew
        /// Another program has had the device; its settings are not the ones to restore at the end.
        case afterRelease
        /// The process continues after a stop before which the device was not given back, so that the device still
        /// keeps the program's modes.
        case again
    }

    /// Called for each event.
    package var handle: (RawTerminal.Event) -> Void = { _ in }
    /// Returns whether no event can be handled now; after a change, ``Connection/watch()`` is called.
    package var isFull: () -> Bool = { false }
    /// Called with a signal that is to end the program.
    package var terminate: (CInt) -> Void = { Device.die(of: $0) }
    /// Called when the program is to stop, as by Ctrl-Z; stops it unless set.
    package var stopRequested: (() -> Void)?
    /// Called when the device can be taken again after ``suspend()``; takes it unless set.
    package var hasContinued: (() -> Void)?
    /// Called to take the device.
    package var take: (Connection, Taking) throws -> Void = { _, _ in }
    /// Called to give the device back.
    package var giveBack: () -> Void = {}
    /// Called when the device may no longer show the last frame.
    package var forget: () -> Void = {}
    /// Returns whether the size of letters has changed since the last call, so that the device shows the same cells
    /// differently.
    package var lettersChanged: () -> Bool = { false }
    /// Called when a frame that was refused can be written.
    package var isReady: () -> Void = {}
    /// Called when everything has been written.
    package var whenWritten: () -> Void = {}
    /// The times to wait for the rest of input.
    package var timing = InputTiming() { didSet { connection?.timing = timing } }
    /// Whether the next suspension releases the device to other programs instead of stopping this one.
    private var isReleasing = false
    /// Whether other programs have the device.
    private var isReleased = false
    /// The closures to call when the device is taken again, or is closed.
    private var whenTaken: [() -> Void] = []

    package init() {}

    /// The one user of the process's terminal, while it is open.
    private static weak var holder: Session?

    /// Refuses a second user of the process's terminal.
    package func claim() throws(RawTerminal.OpenError) {
        if let holder = Self.holder, holder !== self { throw .inUse }
        Self.holder = self
    }

    /// Begins to read, to write and to receive signals; owns both descriptors from now on.
    ///
    /// - Parameters:
    ///   - input: The descriptor to read from.
    ///   - output: The descriptor to write to.
    ///   - loop: The loop that serves the device.
    ///   - modes: The modes in which input is read.
    ///   - systemModes: The modes in which signals are received and output is written.
    /// - Throws: The error of a system call that has failed, or of ``take``.
    package func open(
        input: CInt, output: CInt, _ loop: RunLoop, _ modes: [RunLoop.Mode], systemModes: [RunLoop.Mode]
    ) throws {
        let connection = try Connection(input: input, output: output, loop, modes, systemModes: systemModes)
        connection.handleWritten = { [weak self] in self?.hasWritten() }
        connection.handle = { [weak self] in self?.receive($0) }
        connection.isFull = isFull
        connection.timing = timing
        self.connection = connection
        signals = try Signals(
            loop, systemModes, terminate: terminate, stopRequested: { [weak self] in self?.requestStop() },
            resize: { [weak self] in self?.askSize() }, goOn: { [weak self] in self?.goOn() })
        if let known = Device.size(output) { takeSize(known) }
        try take(connection, .anew)
        connection.watch()
    }

    /// Gives the device back for good; a second call does nothing.
    package func close() {
        if Self.holder === self { Self.holder = nil }
        guard let connection else { return }
        signals?.invalidate()
        if !isSuspended { giveBack() }
        connection.close()
        (self.connection, signals) = (nil, nil)
        (isSuspended, isReleased) = (false, false)
        hasTaken()
    }

    private func receive(_ event: Event) {
        guard case .resized(let new) = event else { return handle(event) }
        if takeSize(new) { handle(.resized(size)) }
    }

    // MARK: Frames

    /// Writes a frame by one call; returns whether it was written: while an earlier write is under way, no frame is.
    package func write(frame bytes: () -> [UInt8]) -> Bool {
        guard let connection, !isSuspended else { return true }
        if connection.isBusy {
            hasRefused = true
            return false
        }
        connection.write(bytes())
        return true
    }

    private func hasWritten() {
        whenWritten()
        guard hasRefused else { return }
        hasRefused = false
        isReady()
    }

    // MARK: Size

    /// Called for SIGWINCH.
    ///
    /// The size can be the last one that was taken: the terminal had another one in between, and has moved and cut what
    /// it shows.
    private func askSize() {
        guard !isSuspended, let connection, let new = Device.size(connection.output) else { return }
        if !takeSize(new) { forget() }
        handle(.resized(size))
    }

    /// Sets the size; returns whether the size or the letters' size has changed.
    @discardableResult
    func takeSize(_ new: Size) -> Bool {
        let new = Size(
            columns: min(new.columns, Self.largest.columns), rows: min(new.rows, Self.largest.rows))
        if !lettersChanged(), new == size { return false }
        size = new
        // Terminals move and cut what they show.
        forget()
        return true
    }

    // MARK: Stopping

    /// Gives the device back and stops the processes of the job until the user continues them.
    ///
    /// If the device is being released to other programs, the process is not stopped.
    package func suspend() {
        guard let connection, !isSuspended else { return }
        isSuspended = true
        giveBack()
        if isReleasing {
            isReleased = true
            connection.isPaused = true
            signals?.release()
            return
        }
        signals?.stop()
        goOnAfterSuspension()
    }

    private func requestStop() { if let stopRequested { stopRequested() } else { suspend() } }

    private func goOnAfterSuspension() { if let hasContinued { hasContinued() } else { resume() } }

    /// Takes the device again.
    package func resume() {
        guard isSuspended else { return }
        isSuspended = false
        let wasReleased = isReleased
        if isReleased {
            isReleased = false
            signals?.takeBack()
            connection?.isPaused = false
        }
        takeAgain(wasReleased ? .afterRelease : .anew)
        hasTaken()
    }

    /// Takes the device again when the process continues after a stop without ``suspend()``, in which another program
    /// may have used the terminal.
    private func goOn() { if !isSuspended { takeAgain(.again) } }

    private func takeAgain(_ reason: Taking) {
        guard let connection else { return }
        // In the background this stops the process again, until it is in the foreground.
        try? take(connection, reason)
        forget()
        if let new = Device.size(connection.output) { takeSize(new) }
        hasRefused = false
        isReady()
        handle(.resized(size))
    }

    // MARK: Other programs

    /// Releases the device to other programs while a closure runs.
    ///
    /// - Parameters:
    ///   - suspendApplication: Suspends the application, which suspends the display.
    ///   - body: Runs the other programs. Closures that run at the same time share the device.
    package func release<Result>(
        suspendApplication: () -> Void, while body: @MainActor () async throws -> Result
    ) async rethrows -> Result {
        var isDirect = false
        if connection != nil, !isSuspended {
            isReleasing = true
            suspendApplication()
            // Without an application that runs, nobody suspends the display.
            isDirect = !isSuspended
            if isDirect { suspend() }
            isReleasing = false
        }
        releases += 1
        let result: Result
        do {
            result = try await body()
        } catch {
            await endRelease(isDirect)
            throw error
        }
        await endRelease(isDirect)
        return result
    }

    /// Takes the device again when the last closure has ended.
    private func endRelease(_ isDirect: Bool) async {
        releases -= 1
        guard isReleased, releases == 0 else { return }
        if isDirect {
            resume()
        } else {
            await withCheckedContinuation { continuation in
                whenTaken.append { continuation.resume() }
                goOnAfterSuspension()
            }
        }
    }

    /// The number of closures that have the device.
    private var releases = 0

    private func hasTaken() {
        let waiting = whenTaken
        whenTaken = []
        for resume in waiting { resume() }
    }
}
