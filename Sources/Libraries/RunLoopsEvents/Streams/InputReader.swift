// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

/// Reads lines or bytes from any descriptor, and calls a closure on a loop's thread with what it has read.
///
/// ```swift
/// let reader = InputReader(.standardInput, as: .lines) { reader, event in … }
/// ```
///
/// The reader reads at most 64 KiB a turn, and calls its closure with all lines that they complete; it reads less at a
/// time while such a call takes longer than 5 ms, so that a flood of short lines does not keep other items waiting. It
/// keeps at most one line that is not complete. While ``isReadingPaused``, it reads nothing, so that the writer has to wait. After the end
/// and after an error the reader is invalidated. What it has read and not reported by then is lost for other readers of
/// the file.
///
/// Descriptors that always count as ready, such as a file on a disk, are read a portion a turn. The reader does not make
/// a descriptor non-blocking, because other processes may share a terminal or a pipe with this one. Nevertheless its
/// reads do not wait: when another process, or a child that inherited the descriptor, takes the bytes first, the reader
/// goes on waiting in the loop. Each reader then gets a part of the input. So one loop has one reader of a descriptor.
///
/// Thread safety: all members may be used by any thread.
public final class InputReader<Element: Sendable>: EventSource, EndingSource, @unchecked Sendable {
    /// An event that a reader reports.
    public enum Event: Sendable {
        /// Elements were read: at least one, in order.
        case received([Element])
        /// The input has ended; the last event.
        case ended
        /// Reading has failed; the last event.
        case failed(RunLoop.InputError)
    }

    /// Called with the reader and what happened.
    typealias Handler = (InputReader, Event) -> Void

    let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private(set) var handler: Handler?
    @exclusivity(unchecked) private var decode: InputFormat<Element>.Decoder?
    /// Belongs to the loop's thread, except for its end.
    @exclusivity(unchecked) private var input: NonWaitingInput? = NonWaitingInput()
    @exclusivity(unchecked) private var place: ReadersInLoops.Place?
    /// Whether the program has ended the input before its end.
    @exclusivity(unchecked) private var isFinishing = false
    /// How many bytes the next read takes at most; on the loop's thread alone.
    @exclusivity(unchecked) private(set) var portion = InputPortion.first

    /// A reader whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - file: What to read. No other code should read from it.
    ///   - format: What to make of the bytes, such as `.lines`.
    ///   - label: The name in descriptions and tools; where the reader was made, if `nil`.
    ///   - fileID: Where the reader was made.
    ///   - line: Where the reader was made.
    ///   - handler: Called with the reader and what happened.
    ///
    /// Adding the reader to the loop of another thread traps, and so does adding it to a loop that has a valid reader of
    /// the same descriptor: each of the two would receive a part of the input.
    /// Corresponds to `CFReadStreamSetClient`, and to the notifications of Foundation's `FileHandle`.
    /// - Precondition: the file was not closed.
    public convenience init(
        _ file: RunLoop.File, as format: InputFormat<Element>, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping (InputReader, Event) -> Void
    ) {
        self.init(file, format, .here(label, fileID, line), handler)
    }

    /// A reader whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:as:label:fileID:line:handler:)``.
    public static func sendable(
        _ file: RunLoop.File, as format: InputFormat<Element>, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @Sendable (InputReader, Event) -> Void
    ) -> InputReader {
        InputReader(file, format, .anywhere(label, fileID, line), handler)
    }

    /// A reader whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:as:label:fileID:line:handler:)``.
    public static func mainActor(
        _ file: RunLoop.File, as format: InputFormat<Element>, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @MainActor (InputReader, Event) -> Void
    ) -> InputReader {
        InputReader(file, format, .mainThread(label, fileID, line)) { reader, event in
            MainActor.assumeIsolated { handler(reader, event) }
        }
    }

    private init(
        _ file: RunLoop.File, _ format: InputFormat<Element>, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) {
        self.handler = handler
        decode = format.makeDecoder()
        super.init(file.descriptor(for: "An input reader"), for: .readable, origin)
    }

    // A loop that ends releases its readers, and invalidates none of them.
    deinit { leave() }

    /// Whether reading is paused: bytes then stay in the kernel, and the writer has to wait when the kernel's buffer is
    /// full.
    ///
    /// While reading is paused, nothing is reported, not even the end of the file.
    public var isReadingPaused: Bool {
        get { watched.isEmpty }
        set { watched = newValue ? [] : .readable }
    }

    /// Ends the input here: nothing more is read, and the loop's next turn reports what was read of the last line, and
    /// ``Event/ended``.
    ///
    /// ``EventSource/invalidate()`` reports nothing, and drops a line whose end was not read. Nothing happens if the
    /// reader is invalid. A reader that is in no loop reports when it is added to one, and a paused reader reports too.
    public func finish() {
        state.withLock { isFinishing = true }
        watched = []
        callReady()
    }

    // MARK: The loop's thread

    override func ready(_ events: Events) {
        let start = SystemCalls.now(.monotonic)
        let (elements, last) = read()
        if !elements.isEmpty { call(.received(elements)) }
        portion = InputPortion.next(after: portion, thatTook: SystemCalls.now(.monotonic) - start)
        guard let last, isValid else { return }
        end(with: last)
    }

    override func refused(_ error: RunLoop.SystemCallError) {
        // The begun line comes before the failure.
        var elements: [Element] = []
        _ = take(nil, into: &elements)
        if !elements.isEmpty { call(.received(elements)) }
        end(with: .failed(.system(error)))
    }

    override func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {
        let entered = ReadersInLoops.enter(self, loop)
        let isFinishing = state.withLock {
            place = entered
            return self.isFinishing
        }
        if isFinishing { callReady() }
    }

    override func left(_ mode: RunLoop.Mode, of loop: RunLoop) { leave() }

    private func leave() {
        let left = state.withLock { () -> ReadersInLoops.Place? in
            defer { place = nil }
            return place
        }
        if let left { ReadersInLoops.leave(left, ObjectIdentifier(self)) }
    }

    override func giveUp() {
        leave()
        let released = state.withLock { () -> (Handler?, InputFormat<Element>.Decoder?, NonWaitingInput?) in
            defer { (handler, decode, input) = (nil, nil, nil) }
            return (handler, decode, input)
        }
        withExtendedLifetime(released) {}
    }

    private func call(_ event: Event) {
        state.lock()
        let handler = self.handler
        state.unlock()
        handler?(self, event)
    }

    /// Reads once; returns what is complete, and the last event if it is due.
    private func read() -> ([Element], Event?) {
        var elements: [Element] = []
        let (open, isFinishing) = state.withLock { (input, self.isFinishing) }
        guard let input = open else { return ([], nil) }
        if isFinishing {
            let last = take(nil, into: &elements) ?? .ended
            return (elements, last)
        }
        let last = withDescriptor { number in
            withUnsafeTemporaryAllocation(byteCount: portion, alignment: 16) { buffer in
                guard let memory = buffer.baseAddress else { return Event?.none }
                let result = input.read(number, memory, buffer.count)
                switch result {
                case -Int(EAGAIN): return nil
                case 1...: return take(UnsafeRawBufferPointer(rebasing: buffer[..<result]), into: &elements)
                // A terminal whose other side has gone gives EIO: there is no other end.
                case -Int(EIO) where rl_is_terminal(number): fallthrough
                case 0: return take(nil, into: &elements) ?? .ended
                default:
                    // The begun line comes before the failure. It is as long as a line may be: the decoder refuses more.
                    _ = take(nil, into: &elements)
                    return .failed(.system(RunLoop.SystemCallError(call: "read", code: CInt(clamping: -result))))
                }
            }
        }
        return (elements, last ?? nil)
    }

    /// The lock is not needed against other decoders: the loop's thread alone decodes.
    private func take(_ bytes: UnsafeRawBufferPointer?, into elements: inout [Element]) -> Event? {
        guard let decode = state.withLock({ decode }) else { return nil }
        do throws(RunLoop.InputError) {
            try decode(bytes, &elements)
            return nil
        } catch {
            return .failed(error)
        }
    }
}

enum InputPortion {
    /// The most bytes that are taken from the kernel at a time: what a pipe holds.
    static let size = 65536
    static let first = 4096
    static let least = 512
    /// How long a portion may keep the loop's thread, in nanoseconds.
    static let time: Int64 = 5_000_000

    /// The size of the portion after a portion of `size` bytes that took so many nanoseconds.
    ///
    /// The bytes do not say how long they take: 64 KiB may be one line or 65,536 empty lines.
    static func next(after size: Int, thatTook nanoseconds: Int64) -> Int {
        if nanoseconds <= time / 8 { return min(Self.size, size * 4) }
        if nanoseconds <= time { return size }
        return max(least, Int(Double(size) * Double(time) / Double(nanoseconds)))
    }
}
