// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// The connection to a device: decodes the bytes that are read, and keeps bytes to write until the device takes them.
@MainActor final class Connection {
    /// The shortest pause before a Ctrl-C that ends a pasted text; within a pasted text, bytes arrive without such
    /// pauses.
    private static let pauseBeforeInterrupt = Duration.milliseconds(100)

    let input: CInt
    let output: CInt
    private let isBlocking: Bool
    private let queue: InputQueue
    private var reader: RunLoop.DescriptorSource?
    private var writer: RunLoop.DescriptorSource?
    private var alarm: RunLoop.Timer?
    /// The number of the sequence whose time the alarm measures from its beginning; `nil` if the alarm measures the
    /// time since the last byte.
    private var alarmedSequence: Int?
    /// The time at which a part of a pasted text was read last, or at which the beginning of a sequence was counted as
    /// a key.
    private var lastRead = ContinuousClock.now
    private var decoder = Decoder()
    private var decoded: [Decoded] = []
    /// Reads a description that could not be opened once more, and is blocking, without waiting too.
    private let reading: NonWaitingInput
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)
    private var waiting = SendBuffer()
    private var hasEnded = false

    /// Called for each reply.
    var handleReply: (Reply) -> Void = { _ in }
    /// Called for each input; its result is pushed instead of the input, and nothing is pushed if it is nil.
    var filter: (RawInput) -> RawInput? = { $0 }
    /// Called when nothing more can be read.
    var handleEnd: () -> Void = {}
    /// Called when the device has taken everything.
    var handleWritten: () -> Void = {}
    /// Whether a line feed counts as the enter key, as is needed if the terminal edits lines itself.
    var readsLines = false
    /// The times to wait for the rest of input.
    var timing = InputTiming()
    /// The end of the time in which the device may answer: an escape before this instant may be the beginning of an
    /// answer.
    var answersUntil: ContinuousClock.Instant?
    /// Whether reading is paused because other programs have the device.
    var isPaused = false { didSet { watch() } }

    /// Makes a connection that owns both descriptors.
    ///
    /// - Throws: The error of a system call that has failed.
    init(input: CInt, output: CInt, queue: InputQueue) throws(RunLoop.SystemCallError) {
        self.input = input
        self.output = output
        isBlocking = Device.isBlocking(output)
        reading = NonWaitingInput(isOwn: !Device.isBlocking(input))
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

    /// Sets the events that the loop waits for: input unless the queue is full, and room to write while bytes wait.
    private func watch() {
        reader?.events = hasEnded || isPaused || queue.isFull ? [] : .readable
        writer?.events = waiting.isEmpty ? [] : .writable
    }

    // MARK: Input

    /// Reads the available bytes, once.
    ///
    /// - Returns: Whether bytes were read.
    @discardableResult
    func readOnce() -> Bool {
        let count = buffer.withUnsafeMutableBytes { [reading, input] buffer in
            buffer.baseAddress.map { reading.read(input, $0, buffer.count) } ?? 0
        }
        // Another process has read it.
        if count == -Int(EAGAIN) { return false }
        guard count > 0 else {
            hasEnded = true
            watch()
            handleEnd()
            return false
        }
        if readsLines { for index in 0..<count where buffer[index] == 0x0A { buffer[index] = 0x0D } }
        if decoder.isInPaste || decoder.hasLateBeginning { takeSilence(before: count) }
        decoder.decode(buffer.span.extracting(0..<count), into: &decoded)
        if decoder.isInPaste { lastRead = .now }
        handOn()
        setAlarm()
        if queue.isFull { watch() }
        return true
    }

    /// Decides from the pause before some bytes whether they continue a late sequence or interrupt a pasted text.
    private func takeSilence(before count: Int) {
        let silence = ContinuousClock.now - lastRead
        let bytes = Array(buffer.prefix(min(count, Decoder.longestLateRest)))
        decoder.resumeLate(bytes, isInTime: silence <= timing.sequenceTimeout)
        // The end of a pasted text that was lost must not keep the user from ending the program.
        if decoder.isInPaste, silence >= Self.pauseBeforeInterrupt, count == bytes.count, Self.isInterrupt(bytes) {
            decoder.endIsLost(into: &decoded)
        }
    }

    /// Whether bytes are Ctrl-C and nothing else: one byte, or a key of the kitty protocol.
    private static func isInterrupt(_ bytes: [UInt8]) -> Bool {
        if bytes.count > 32 { return false }
        var decoder = Decoder()
        var keys: [Decoded] = []
        decoder.decode(bytes.span, into: &keys)
        return keys == [.input(.key(KeyInput(.character("c"), modifiers: .control)))]
    }

    /// Starts, keeps or stops the timer after which the missing rest of the input counts as lost.
    private func setAlarm() {
        let kept = decoder.isOpen && !decoder.isInPaste ? decoder.sequenceNumber : nil
        if alarm != nil, kept != nil, kept == alarmedSequence { return }
        alarm?.invalidate()
        (alarm, alarmedSequence) = (nil, kept)
        guard decoder.isWaiting || decoder.isOpen else { return }
        var time = decoder.isWaiting ? timing.escapeDelay : timing.sequenceTimeout
        // The terminal still owes answers, of which this may be the beginning.
        if decoder.isWaiting, let answersUntil { time = max(time, answersUntil - .now) }
        let timer = RunLoop.Timer(.after(time), label: "escape") { [weak self] _ in self?.timeHasPassed() }
        for mode in queue.modes { queue.loop.add(timer, in: mode) }
        alarm = timer
    }

    private func timeHasPassed() {
        alarm = nil
        // The program may have been late, and the rest of the sequence may be here.
        if !isPaused, Device.waitForInput(input, .zero), readOnce() { return }
        if decoder.isWaiting {
            decoder.timeHasPassed(into: &decoded)
            lastRead = .now
        } else {
            decoder.endIsLost(into: &decoded)
        }
        handOn()
    }

    /// Ends an unfinished key, sequence, string or pasted text, because other programs read the device from now on.
    func endInput() {
        alarm?.invalidate()
        alarm = nil
        if decoder.isWaiting { decoder.timeHasPassed(into: &decoded) } else { decoder.endIsLost(into: &decoded) }
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
        waiting.append(bytes)
        if !wasBusy { flush() }
        // Usually the device takes everything, and nothing is to be waited for.
        if isBusy != wasBusy { watch() }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Drops the bytes that still wait.
    func discard() {
        waiting.removeAll()
        watch()
    }

    private func writeOn() {
        flush()
        watch()
        if waiting.isEmpty { handleWritten() }
    }

    private func flush() {
        while !waiting.isEmpty {
            let count = waiting.withBytes { Device.send($0, to: output, isBlocking: isBlocking) }
            if count > 0 {
                waiting.removeFirst(count)
            } else if count < 0 && errno == EINTR {
                continue
            } else if count < 0 && errno == EAGAIN {
                return
            } else {
                // Gone (EIO, EPIPE): the input, or a signal, says that the device has hung up.
                waiting.removeAll()
            }
        }
    }
}
