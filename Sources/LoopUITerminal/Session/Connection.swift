// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC
internal import LoopUI
internal import RunLoops

/// The way to and from a device: bytes that come are decoded, bytes that go are kept until the device takes them.
@MainActor final class Connection {
    /// How long an escape waits for the rest of a sequence; our own choice.
    static let escapeTime = Duration.milliseconds(25)

    let input: CInt
    let output: CInt
    private let queue: InputQueue
    private var reader: RunLoop.DescriptorSource?
    private var writer: RunLoop.DescriptorSource?
    private var alarm: RunLoop.Timer?
    private var decoder = Decoder()
    private var decoded: [Decoded] = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)
    private var waiting: [UInt8] = []
    private var hasEnded = false

    /// Called for each reply.
    var handleReply: (Reply) -> Void = { _ in }
    /// Called for each input before it is pushed; pushes what it returns.
    var filter: (RawInput) -> RawInput? = { $0 }
    /// Called when nothing more can be read.
    var handleEnd: () -> Void = {}
    /// Called when the device has taken everything.
    var handleWritten: () -> Void = {}
    /// Whether a line feed is the key that ends a line, as where the terminal edits lines itself.
    var readsLines = false

    /// Owns both descriptors from now on.
    ///
    /// - Throws: what the system refuses.
    init(input: CInt, output: CInt, queue: InputQueue) throws(RunLoop.SystemCallError) {
        self.input = input
        self.output = output
        self.queue = queue
        let reader = RunLoop.DescriptorSource(input, for: .readable, closes: true, label: "terminal input") {
            [weak self] _, _ in self?.readOnce()
        }
        let writer = RunLoop.DescriptorSource(output, for: [], closes: true, label: "terminal output") {
            [weak self] _, _ in self?.writeOn()
        }
        for mode in queue.modes {
            try queue.loop.add(reader, in: mode)
            try queue.loop.add(writer, in: mode)
        }
        (self.reader, self.writer) = (reader, writer)
        queue.roomHandler = { [weak self] in self?.watch() }
    }

    func close() {
        queue.roomHandler = nil
        alarm?.invalidate()
        reader?.invalidate()
        writer?.invalidate()
        (alarm, reader, writer) = (nil, nil, nil)
    }

    /// What the loop waits for: no input while the queue is full, room to write while something waits.
    private func watch() {
        reader?.events = hasEnded || queue.isFull ? [] : .readable
        writer?.events = waiting.isEmpty ? [] : .writable
    }

    // MARK: Input

    /// Reads what there is, once.
    ///
    /// - Returns: Whether something came.
    @discardableResult
    func readOnce() -> Bool {
        let count = read(input, &buffer, buffer.count)
        // EAGAIN: another process has read it. EINTR: the loop calls again.
        if count < 0 && (errno == EAGAIN || errno == EINTR) { return false }
        guard count > 0 else {
            hasEnded = true
            watch()
            handleEnd()
            return false
        }
        alarm?.invalidate()
        alarm = nil
        if readsLines { for index in 0..<count where buffer[index] == 0x0A { buffer[index] = 0x0D } }
        decoder.decode(buffer.span.extracting(0..<count), into: &decoded)
        handOn()
        if decoder.isWaiting { setAlarm() }
        if queue.isFull { watch() }
        return true
    }

    private func setAlarm() {
        let timer = RunLoop.Timer(.after(Self.escapeTime), label: "escape") { [weak self] _ in self?.timeHasPassed() }
        for mode in queue.modes { queue.loop.add(timer, in: mode) }
        alarm = timer
    }

    private func timeHasPassed() {
        alarm = nil
        // The program may have been late, and the rest of the sequence may be here.
        if Device.waitForInput(input, .zero), readOnce() { return }
        decoder.timeHasPassed(into: &decoded)
        handOn()
    }

    private func handOn() {
        var all: [Decoded] = []
        swap(&all, &decoded)
        defer {
            // The memory is used again.
            all.removeAll(keepingCapacity: true)
            if decoded.isEmpty { swap(&all, &decoded) }
        }
        for one in all {
            switch one {
            case .reply(let reply): handleReply(reply)
            case .input(let input): if let input = filter(input) { queue.push(input) }
            }
        }
    }

    // MARK: Output

    /// Whether an earlier write is still under way.
    var isBusy: Bool { !waiting.isEmpty }

    /// Writes bytes, behind those that still wait.
    func write(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        let wasBusy = isBusy
        if wasBusy { waiting += bytes } else { waiting = bytes }
        if !wasBusy { flush() }
        // Usually the device takes everything, and nothing is to be waited for.
        if isBusy != wasBusy { watch() }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Forgets what waits.
    func discard() {
        waiting = []
        watch()
    }

    private func writeOn() {
        flush()
        watch()
        if waiting.isEmpty { handleWritten() }
    }

    private func flush() {
        while !waiting.isEmpty {
            let count = Device.send(waiting, to: output)
            if count == waiting.count {
                waiting = []
            } else if count > 0 {
                waiting.removeFirst(count)
            } else if count < 0 && errno == EINTR {
                continue
            } else if count < 0 && errno == EAGAIN {
                return
            } else {
                // Gone (EIO, EPIPE): the input, or a signal, says that the device has hung up.
                waiting = []
            }
        }
    }
}
