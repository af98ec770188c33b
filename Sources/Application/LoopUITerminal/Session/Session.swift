// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI
internal import RunLoops

/// What the displays on a terminal have in common: the way to the device, its size, one frame at a time, signals, and
/// the stops of the process.
@MainActor final class Session {
    /// More than any screen has; a terminal can say that it has 65,535 columns and as many rows, and a frame of them all
    /// would take gigabytes.
    static let largest = Size(1000, 400)

    /// Columns and rows; 80 by 24 where the terminal does not say.
    private(set) var size = Size(80, 24)
    /// The way to the device, from `open` to `close()`.
    private(set) var connection: Connection?
    private(set) var isSuspended = false
    private(set) var queue: InputQueue?
    private var signals: Signals?
    private var hasRefused = false

    /// Why the device is taken.
    enum Taking {
        /// When the display is opened, and after a stop before which the device was given back.
        case anew
        /// After another program has had it, whose settings are not those to restore.
        case afterRelease
        /// After a stop before which it was not given back: what the device keeps for the program, it has already.
        case again
    }

    /// Takes the device.
    var take: (Connection, Taking) throws -> Void = { _, _ in }
    /// Undoes it.
    var giveBack: () -> Void = {}
    /// Called when the device may show something else than was written last.
    var forget: () -> Void = {}
    /// Whether letters have another size than at the last call: then the device shows the same cells otherwise.
    var lettersChanged: () -> Bool = { false }
    /// Called when everything has been written.
    var whenWritten: () -> Void = {}
    /// The times that the rest of input is waited for.
    var timing = InputTiming() { didSet { connection?.timing = timing } }
    /// Whether the next suspension gives the device to other programs, and does not stop this one.
    private var isReleasing = false
    /// Whether other programs have the device.
    private var isReleased = false
    /// Called when the device is taken again, or is closed.
    private var whenTaken: [() -> Void] = []

    /// Begins to read, to write and to take signals; owns both descriptors from now on.
    ///
    /// - Throws: what the system refuses.
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

    /// Writes a frame by one call; `busy` while an earlier one is under way.
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

    /// Whether the size, or the letters' size, is another one than before.
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

    /// Gives the device back and stops the process, with the others of its job, until the user lets it go on.
    ///
    /// While it is released to other programs, the process is not stopped.
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

    /// The process goes on after a stop that it was not asked about: somebody else has had the terminal meanwhile.
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

    /// Leaves the device to other programs while a body runs.
    ///
    /// - Parameters:
    ///   - suspendApplication: Suspends the application, which suspends the display.
    ///   - body: What runs the other programs. Bodies that run at the same time have the device together.
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

    /// Takes the device again when the last body has ended.
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

    /// How many bodies have the device.
    private var releases = 0

    private func hasTaken() {
        let waiting = whenTaken
        whenTaken = []
        for resume in waiting { resume() }
    }
}
