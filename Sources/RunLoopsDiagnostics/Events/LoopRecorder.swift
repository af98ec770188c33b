internal import Glibc
internal import RunLoops
internal import Synchronization

/// Writes what one loop does into its ring.
///
/// Only the loop's thread calls `trace`; the rest may be asked by any.
// Unchecked: what is not atomic belongs to the loop's thread, or never changes.
final class LoopRecorder: LoopTracer, @unchecked Sendable {
    let ring: EventRing
    let thread: Int32
    let name: String
    let isMain: Bool
    private let isOn = Atomic<Bool>(true)

    // SAFETY: looked at inside `trace` only, which the engine itself calls.
    private unowned(unsafe) let engine: Engine

    // The loop's thread.
    @exclusivity(unchecked) private var labels = LabelKeeper()
    @exclusivity(unchecked) private var depth: UInt16 = 0

    init(_ engine: Engine, capacity: Int) {
        self.engine = engine
        thread = engine.threadID
        isMain = engine.threadID == SystemCalls.mainThreadID
        name = Self.name(ofThread: engine.threadID)
        ring = EventRing(capacity: capacity)
    }

    /// No more events are written; the loop forgets the recorder with its next one.
    func stop() { isOn.store(false, ordering: .relaxed) }

    var isStopped: Bool { !isOn.load(ordering: .relaxed) }

    func trace(_ event: LoopEvent) {
        guard isOn.load(ordering: .relaxed) else {
            if engine.tracer === self { engine.tracer = nil }
            return
        }
        var raw = RawEvent(time: engine.kernel.now(.monotonic))
        switch event {
        case .runBegins(let mode):
            depth &+= 1
            raw.head = TraceEvent.head(.runBegan, depth: depth)
            raw.first = Int64(mode.number)
        case .passes(let activity):
            raw.head = TraceEvent.head(.passed, depth: depth)
            raw.first = Int64(truncatingIfNeeded: activity.rawValue)
        case .calls(let callee, let label):
            raw.head = TraceEvent.head(.calloutBegan, detail: Self.callee(callee).rawValue, depth: depth)
            switch label {
            case .place(let file, let line):
                raw.label = UInt64(UInt(bitPattern: file))
                raw.line = UInt64(line)
            case .text(let text):
                raw.label = labels.keep(text)
                raw.line = .max
            }
        case .wanted(let wait):
            raw.head = TraceEvent.head(.wanted, depth: depth, thread: wait.thread)
            raw.first = wait.since
            raw.second = wait.tolerance
            raw.third = wait.interval
        case .returns:
            raw.head = TraceEvent.head(.calloutEnded, depth: depth)
        case .wakes(let waking):
            raw.head = TraceEvent.head(.woke, detail: waking.cause.rawValue, depth: depth, thread: waking.thread)
            raw.first = waking.calledAt
            raw.second = waking.asleepSince
        case .runEnds(let result):
            raw.head = TraceEvent.head(.runEnded, depth: depth)
            raw.first = Int64(result.rawValue)
            depth &-= 1
        }
        ring.write(raw)
    }

    /// What has been recorded so far.
    ///
    /// Any thread.
    func events() -> (events: [TraceEvent], lost: UInt64) {
        let (raw, lost) = ring.read()
        let events = raw.compactMap { TraceEvent($0) { RunLoopMode(number: UInt32(truncatingIfNeeded: $0)) } }
        return (events, lost)
    }

    private static func callee(_ callee: LoopEvent.Callee) -> TraceEvent.Callee {
        switch callee {
        case .observer: .observer
        case .block: .block
        case .source: .source
        case .port: .port
        case .timer: .timer
        case .mainQueue: .mainQueue
        }
    }

    /// The name that the thread was given, as the kernel knows it.
    private static func name(ofThread thread: Int32) -> String {
        let file = open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, 16))
        }
        return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    }
}
