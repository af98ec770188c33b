// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoops
import RunLoopsDiagnostics
import RunLoopsLibC
import RunLoopsSystem

/// How long a program and the processes that it has started may take, and may be idle, before they are reported.
struct ProgramPatience {
    /// The time after which the program is reported and ended; `nil` for never.
    let time: Duration?
    /// The idle time after which the program is reported and ended; `nil` for never.
    let idle: Duration?

    /// The idle time after which a program is reported that is not ended.
    private static let usualIdle = Duration.seconds(60)
    /// How long a program may take to end after SIGTERM.
    private static let grace = Duration.seconds(5)

    /// Waits until a child process has ended; the caller asks for its status.
    ///
    /// - Returns: A sentence for each time that it hung. Everything else is on standard error.
    func wait(for process: pid_t) throws -> [String] {
        let descriptor = rl_pidfd_open(process)
        guard descriptor >= 0 else { throw CommandFailure("process \(process)", -descriptor) }
        defer { close(descriptor) }
        let start = ContinuousClock.now
        var (family, idleSince) = (ProcessFamily(of: process), ContinuousClock.now)
        var isReported = false
        let idle = idle ?? Self.usualIdle
        while true {
            let now = ContinuousClock.now
            var next = idle / 4
            if let time { next = min(next, start + time - now) }
            if rl_wait_readable(descriptor, CInt(clamping: max(1, next.milliseconds + 1))) > 0 { return [] }
            let present = ProcessFamily(of: process)
            if present != family { (family, idleSince, isReported) = (present, .now, false) }
            if let time, ContinuousClock.now - start >= time {
                return end(family, descriptor, "has not ended after \(Format.short(time))")
            }
            guard ContinuousClock.now - idleSince >= idle, !isReported else { continue }
            let sentence = "has used no processor for \(Format.short(idle))"
            if self.idle != nil { return end(family, descriptor, sentence) }
            _ = report(family, sentence)
            isReported = true
        }
    }

    /// Prints the processes, and returns the sentences about the hang.
    private func report(_ family: ProcessFamily, _ sentence: String) -> [String] {
        var findings: [String] = []
        // The processes that were started last, which the others usually wait for, come first.
        for process in family.members.reversed() {
            let tasks = try? TaskReport(of: process.number)
            let lines = (tasks?.lines ?? []) + ThreadReport.lines(ThreadReport.threads(of: process.number))
            Output.errors(["", "\(process.name), process \(process.number):"] + lines.map { "  \($0)" })
            findings += (tasks?.ringLines ?? []).map { "\(process.name), process \(process.number): \($0)" }
        }
        let first = family.members.first?.name ?? ""
        let others = family.members.count > 1 ? ", with \(Format.count(family.members.count - 1, "descendant"))," : ""
        return ["\(first)\(others) \(sentence)."] + findings
    }

    private func end(_ family: ProcessFamily, _ descriptor: CInt, _ sentence: String) -> [String] {
        let findings = report(family, sentence)
        for signal in [SIGTERM, SIGKILL] {
            // Processes that have been started meanwhile as well.
            let root = family.members.prefix(1).map(\.number)
            for process in root.flatMap({ ProcessFamily(of: $0).members }).reversed() { kill(process.number, signal) }
            if rl_wait_readable(descriptor, CInt(clamping: Self.grace.milliseconds)) > 0 { break }
        }
        // Those whose parents have ended belong to other parents now. A number may have a new owner: its beginning differs.
        for process in family.members.dropFirst() where ProcessFamily.Member(process.number)?.start == process.start {
            kill(process.number, SIGKILL)
        }
        return findings
    }
}

/// A process with all that it has started, directly or by others, with the processor time of each.
///
/// Two of them are equal if no process has been started, has ended or has used a processor between.
struct ProcessFamily: Equatable {
    struct Member: Equatable {
        let number: pid_t
        let name: String
        let parent: pid_t
        /// The processor time in the kernel's ticks, usually 10 ms.
        let processor: UInt64
        /// When the process began, in ticks since the machine started.
        let start: UInt64

        /// Reads the state of a process; `nil` if there is none.
        init?(_ number: pid_t) {
            guard let text = try? TextFile.read(SystemText(prefixOf: "/proc/\(number)/stat".utf8)),
                let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close
            else { return nil }
            // State, parent, … user time, system time, … beginning: after the name, which may have spaces.
            let fields = text[close...].dropFirst(2).split(separator: " ")
            guard fields.count > 19, let parent = pid_t(fields[1]), let user = UInt64(fields[11]),
                let system = UInt64(fields[12]), let start = UInt64(fields[19])
            else { return nil }
            (self.number, self.parent, self.start) = (number, parent, start)
            name = String(text[open...].dropFirst()[..<close])
            processor = user + system
        }
    }

    /// The process itself, then the others in the order in which they began.
    let members: [Member]

    init(of process: pid_t) {
        var all: [Member] = []
        let directory = rl_directory_open("/proc")
        if directory >= 0 {
            _ = DirectoryEntries.read(directory) { name, _ in
                if let number = pid_t(name.decoded), let member = Member(number) { all.append(member) }
                return true
            }
            close(directory)
        }
        let children = Dictionary(grouping: all, by: \.parent)
        var members = all.filter { $0.number == process }
        var next = 0
        while next < members.count {
            members += children[members[next].number] ?? []
            next += 1
        }
        self.members = members.prefix(1) + members.dropFirst().sorted { ($0.start, $0.number) < ($1.start, $1.number) }
    }
}
