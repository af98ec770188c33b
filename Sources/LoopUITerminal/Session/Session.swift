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

    /// Takes the device: when the display is opened, and after each stop.
    var take: (Connection) throws -> Void = { _ in }
    /// Undoes it.
    var giveBack: () -> Void = {}
    /// Called when the device may show something else than was written last.
    var forget: () -> Void = {}
    /// Whether letters have another size than at the last call: then the device shows the same cells otherwise.
    var lettersChanged: () -> Bool = { false }
    /// Called when everything has been written.
    var whenWritten: () -> Void = {}

    /// Begins to read, to write and to take signals; owns both descriptors from now on.
    ///
    /// - Throws: what the system refuses.
    func open(input: CInt, output: CInt, _ queue: InputQueue) throws {
        let connection = try Connection(input: input, output: output, queue: queue)
        connection.handleWritten = { [weak self] in self?.hasWritten() }
        (self.connection, self.queue) = (connection, queue)
        signals = try Signals(
            queue, resize: { [weak self] in self?.askSize() }, goOn: { [weak self] in self?.goOn() })
        if let known = Device.size(output) { takeSize(known) }
        try take(connection)
    }

    /// Gives the device back for good; a second call does nothing.
    func close() {
        guard let connection else { return }
        signals?.invalidate()
        if !isSuspended { giveBack() }
        connection.close()
        (self.connection, signals, queue) = (nil, nil, nil)
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
    func suspend() {
        guard connection != nil, !isSuspended else { return }
        isSuspended = true
        giveBack()
        signals?.stop()
        queue?.push(.resumed)
    }

    /// Takes the device again.
    func resume() {
        guard isSuspended else { return }
        isSuspended = false
        takeAgain()
    }

    /// The process goes on after a stop that it was not asked about: somebody else has had the terminal meanwhile.
    private func goOn() { if !isSuspended { takeAgain() } }

    private func takeAgain() {
        guard let connection, let queue else { return }
        // In the background this stops the process again, until it is in the foreground.
        try? take(connection)
        forget()
        if let new = Device.size(connection.output) { takeSize(new) }
        hasRefused = false
        queue.displayIsReady()
        queue.push(.resized(size))
    }
}
