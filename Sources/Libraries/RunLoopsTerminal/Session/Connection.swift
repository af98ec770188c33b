// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// The connection to a device: decodes the bytes that are read, and keeps bytes to write until the device takes them.
@MainActor package final class Connection {
    /// The shortest pause before a Ctrl-C that ends a pasted text; within a pasted text, bytes arrive without such
    /// pauses.
    private static let pauseBeforeInterrupt = Duration.milliseconds(100)

    package let input: CInt
    package let output: CInt
    private let isBlocking: Bool
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]
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
    private var decoded: [Event] = []
    /// How many of the decoded events were handed on.
    private var handedOn = 0
    /// Reads a description that could not be opened once more, and is blocking, without waiting too.
    private let reading: NonWaitingInput
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)
    private var waiting = SendBuffer()
    private var hasEnded = false

    /// Called for each event.
    var handle: (Event) -> Void = { _ in }
    /// Returns whether no event can be handled now, so that reading waits; after a change, ``watch()`` is called.
    var isFull: () -> Bool = { false }
    /// Called when the device has taken everything.
    var handleWritten: () -> Void = {}
    /// Whether a line feed counts as the enter key, as is needed if the terminal edits lines itself.
    package var readsLines = false
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
    init(
        input: CInt, output: CInt, _ loop: RunLoop, _ modes: [RunLoop.Mode], systemModes: [RunLoop.Mode]
    ) throws(RunLoop.SystemCallError) {
        self.input = input
        self.output = output
        isBlocking = Device.isBlocking(output)
        reading = NonWaitingInput(isOwn: !Device.isBlocking(input))
        (self.loop, self.modes) = (loop, modes)
        let reader = RunLoop.DescriptorSource(input, for: [], closes: true, label: "terminal input") {
            [weak self] _, _ in self?.readOnce()
        }
        let writer = RunLoop.DescriptorSource(output, for: [], closes: true, label: "terminal output") {
            [weak self] _, _ in self?.writeOn()
        }
        for mode in modes { try loop.add(reader, in: mode) }
        for mode in systemModes { try loop.add(writer, in: mode) }
        (self.reader, self.writer) = (reader, writer)
    }

    func close() {
        alarm?.invalidate()
        reader?.invalidate()
        writer?.invalidate()
        (alarm, reader, writer) = (nil, nil, nil)
    }

    /// Sets the events that the loop waits for: input unless no event can be handled, and room to write while bytes
    /// wait.
    package func watch() {
        reader?.events = hasEnded || isPaused || isFull() ? [] : .readable
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
            handle(.hungUp)
            return false
        }
        if readsLines { for index in 0..<count where buffer[index] == 0x0A { buffer[index] = 0x0D } }
        if decoder.isInPaste || decoder.hasLateBeginning { takeSilence(before: count) }
        decoder.decode(buffer.span.extracting(0..<count), into: &decoded)
        if decoder.isInPaste { lastRead = .now }
        handOn()
        setAlarm()
        if isFull() { watch() }
        return true
    }

    /// Decides from the pause before some bytes whether they continue a late sequence or interrupt a pasted text.
    private func takeSilence(before count: Int) {
        let silence = ContinuousClock.now - lastRead
        let bytes = Array(buffer.prefix(min(count, Decoder.maxLateRest)))
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
        var keys: [Event] = []
        decoder.decode(bytes.span, into: &keys)
        return keys == [.key(KeyPress(.character("c"), modifiers: .control))]
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
        for mode in modes { loop.add(timer, in: mode) }
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

    /// Hands on the events that were read; a handler that reads on continues here.
    private func handOn() {
        while handedOn < decoded.count {
            handedOn += 1
            handle(decoded[handedOn - 1])
        }
        decoded.removeAll(keepingCapacity: true)
        handedOn = 0
    }

    /// Hands on the replies among the events that were read, before the others.
    func handOnReplies() {
        let rest = decoded[handedOn...]
        decoded.removeSubrange(handedOn...)
        decoded += rest.filter { !$0.isReply }
        for event in rest where event.isReply { handle(event) }
    }

    // MARK: Output

    /// Whether an earlier write is still under way.
    package var isBusy: Bool { !waiting.isEmpty }

    /// Writes bytes, behind those that still wait.
    package func write(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        let wasBusy = isBusy
        waiting.append(bytes)
        if !wasBusy { flush() }
        // Usually the device takes everything, and nothing is to be waited for.
        if isBusy != wasBusy { watch() }
    }

    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Drops the bytes that still wait.
    func discard() {
        waiting.removeAll()
        watch()
    }

    /// Writes the bytes that still wait, as far as the terminal takes them in the time of a restoration.
    func sendRest() {
        if waiting.isEmpty { return }
        waiting.withBytes { Device.sendRest($0, to: output) }
        discard()
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
