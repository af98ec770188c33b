// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI
internal import RunLoops

/// The common part of the displays on a terminal: the connection to the device, its size, one frame at a time, signals,
/// and stops of the process.
@MainActor final class Session {
    /// The largest size in columns and rows, which no screen exceeds; a terminal can report 65,535 columns and as many
    /// rows, and a frame of this size would take gigabytes.
    static let largest = Size(1000, 400)

    /// The number of columns and rows; 80 by 24 if the terminal does not report them.
    private(set) var size = Size(80, 24)
    /// The connection to the device, from `open` to `close()`.
    private(set) var connection: Connection?
    private(set) var isSuspended = false
    private(set) var queue: InputQueue?
    private var signals: Signals?
    private var hasRefused = false

    /// The reason for taking the device.
    enum Taking {
        /// The display is opened, or the process continues after a stop before which the device was given back.
        case anew
        /// Another program has had the device; its settings are not the ones to restore at the end.
        case afterRelease
        /// The process continues after a stop before which the device was not given back, so that the device still
        /// keeps the program's modes.
        case again
    }

    /// Called to take the device.
    var take: (Connection, Taking) throws -> Void = { _, _ in }
    /// Called to give the device back.
    var giveBack: () -> Void = {}
    /// Called when the device may no longer show the last frame.
    var forget: () -> Void = {}
    /// Returns whether the size of letters has changed since the last call, so that the device shows the same cells
    /// differently.
    var lettersChanged: () -> Bool = { false }
    /// Called when everything has been written.
    var whenWritten: () -> Void = {}
    /// The times to wait for the rest of input.
    var timing = InputTiming() { didSet { connection?.timing = timing } }
    /// Whether the next suspension releases the device to other programs instead of stopping this one.
    private var isReleasing = false
    /// Whether other programs have the device.
    private var isReleased = false
    /// The closures to call when the device is taken again, or is closed.
    private var whenTaken: [() -> Void] = []

    /// Begins to read, to write and to receive signals; owns both descriptors from now on.
    ///
    /// - Throws: The error of a system call that has failed, or of ``take``.
    func open(input: CInt, output: CInt, _ queue: InputQueue) throws {
        let connection = try Connection(input: input, output: output, queue: queue)
        connection.handleWritten = { [weak self] in self?.hasWritten() }
        connection.timing = timing
        (self.connection, self.queue) = (connection, queue)
        signals = try Signals(
            queue, resize: { [weak self] in self?.askSize() }, goOn: { [weak self] in self?.goOn() })
        if let known = Device.size(output) { takeSize(known) }
        try take(connection, .anew)
    }

    /// Gives the device back for good; a second call does nothing.
    func close() {
        guard let connection else { return }
        signals?.invalidate()
        if !isSuspended { giveBack() }
        connection.close()
        (self.connection, signals, queue) = (nil, nil, nil)
        (isSuspended, isReleased) = (false, false)
        hasTaken()
    }

    // MARK: Frames

    /// Writes a frame by one call; returns `busy` while an earlier write is under way.
    func present(_ bytes: () -> [UInt8]) -> Presentation {
        guard let connection, !isSuspended else { return .taken }
        if connection.isBusy {
            hasRefused = true
            return .busy
        }
        connection.write(bytes())
        return .taken
    }

    private func hasWritten() {
        whenWritten()
        guard hasRefused else { return }
        hasRefused = false
        queue?.displayIsReady()
    }

    // MARK: Size

    private func askSize() {
        guard !isSuspended, let connection, let new = Device.size(connection.output) else { return }
        if takeSize(new) { queue?.push(.resized(size)) }
    }

    /// Sets the size; returns whether the size or the letters' size has changed.
    @discardableResult
    func takeSize(_ new: Size) -> Bool {
        let new = Size(min(new.width, Self.largest.width), min(new.height, Self.largest.height))
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
    func suspend() {
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
        queue?.push(.resumed)
    }

    /// Takes the device again.
    func resume() {
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
        guard let connection, let queue else { return }
        // In the background this stops the process again, until it is in the foreground.
        try? take(connection, reason)
        forget()
        if let new = Device.size(connection.output) { takeSize(new) }
        hasRefused = false
        queue.displayIsReady()
        queue.push(.resized(size))
    }

    // MARK: Other programs

    /// Releases the device to other programs while a closure runs.
    ///
    /// - Parameters:
    ///   - suspendApplication: Suspends the application, which suspends the display.
    ///   - body: Runs the other programs. Closures that run at the same time share the device.
    func release<Result>(
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
                queue?.push(.resumed)
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
