// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import CRunLoopsStackSampling
internal import RunLoops
internal import RunLoopsSystem

/// Reads the kernel's figures of one thread of this process or another one.
struct ThreadProbe {
    /// The state of a thread at one moment.
    enum State: Equatable {
        /// The thread runs, or is ready and waits for a processor.
        case running
        /// The thread waits in the kernel: in a system call, or (-1) for a page of memory.
        case waiting(call: Int, stackPointer: UInt64, counter: UInt64)
        /// The kernel does not say.
        case unknown
    }

    let thread: Int32
    /// The process that the thread belongs to; `nil` for this one.
    var process: Int32?

    private var folder: String { "/proc/\(process.map(String.init) ?? "self")/task/\(thread)" }

    /// The thread's name as the kernel knows it; empty for a thread that has ended.
    var name: String { String(Self.read("\(folder)/comm").prefix { $0 != "\n" }) }

    var state: State {
        let words = Self.read("\(folder)/syscall").split { $0 == " " || $0 == "\n" }
        guard let first = words.first else { return .unknown }
        if first == "running" { return .running }
        // Each begins with 0x.
        let places = words.suffix(2).compactMap { UInt64($0.dropFirst(2), radix: 16) }
        guard words.count >= 3, let call = Int(first), places.count == 2 else { return .unknown }
        return .waiting(call: call, stackPointer: places[0], counter: places[1])
    }

    /// The processor time of a thread of this process in nanoseconds; 0 for a thread that has ended.
    var processorTime: Int64 { max(0, rl_thread_processor_time(thread)) }

    /// How long the thread was ready to run without a processor, in nanoseconds; 0 if the kernel does not count that.
    var processorDelay: Int64 {
        let words = Self.read("\(folder)/schedstat").split(separator: " ")
        return words.count > 1 ? Int64(words[1]) ?? 0 : 0
    }

    /// Whether the thread has blocked the signal: the signal must not be sent then, since the thread may wait for it.
    func blocks(signal: CInt) -> Bool {
        guard let mask = Self.field("SigBlk", of: "\(folder)/status"),
            let bits = UInt64(mask, radix: 16)
        else { return true }
        return bits >> UInt64(signal - 1) & 1 != 0
    }

    /// Whether a debugger or `strace` traces the process.
    static var isTraced: Bool { field("TracerPid", of: "/proc/self/status").map { $0 != "0" } ?? false }

    private static func field(_ name: String, of file: String) -> Substring? {
        let line = read(file).split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " }
    }

    /// Returns the beginning of a small file; an empty string if the file cannot be read.
    private static func read(_ path: String) -> String {
        String(decoding: [UInt8](file: SystemText(prefixOf: path.utf8), count: 4096), as: UTF8.self)
    }
}

extension RunLoop.HangWatch.Cause.Wait {
    /// Makes the kind of wait of the system call with this number.
    init(call: Int) {
        switch rl_wait_of_call(call) {
        case rl_wait_lock: self = .lock
        case rl_wait_sleep: self = .sleep
        case rl_wait_descriptors: self = .descriptors
        case rl_wait_child: self = .child
        default: self = .other(call: call)
        }
    }
}
