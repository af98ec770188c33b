// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Measures the cost of event sources while nothing happens: memory of the process for each, and wake-ups of the loop in two seconds.
//
//   swift run -c release --package-path Benchmarks rest
//
// Each kind is measured in a process of its own, whose memory no other kind has left holes in.

import BenchKit
import Glibc
import RunLoops
import RunLoopsEvents

/// A kind of source, and how one is made and added to the current loop.
enum Kind: String, CaseIterable {
    case descriptor, signal, child, files, lines, output, listener, connection, poll

    /// How many are measured; a user has 128 inotify descriptors.
    var count: Int { self == .files ? 100 : 400 }

    /// Makes one and returns what has to be kept.
    func add() throws -> Any? {
        let loop = RunLoop.current
        switch self {
        case .descriptor:
            let source = RunLoop.DescriptorSource(try openPipe().reading, closes: true) { _, _ in }
            try loop.add(source, in: .default)
        case .signal: try loop.add(SignalSource(SIGUSR1) { _, _ in }, in: .default)
        case .child:
            let child = try Child.spawn(.name("sleep"), arguments: ["100"], output: .null)
            try loop.add(ChildSource(child) { _, _ in }, in: .default)
            return child
        case .files: try loop.add(FileWatch(["/tmp"], for: .attributes) { _, _ in }, in: .default)
        case .lines:
            let file = try RunLoop.File(adopting: openPipe().reading)
            try loop.add(InputReader(file, as: .lines) { _, _ in }, in: .default)
        case .output:
            let writer = OutputWriter(try RunLoop.File(adopting: openPipe().writing)) { _, _ in }
            try loop.add(writer, in: .default)
        case .listener: try loop.add(SocketListener(on: .loopback()) { _, _ in }, in: .default)
        case .connection:
            let (near, far) = try RunLoop.Socket.pair()
            try loop.add(SocketStream(near) { _, _ in }, in: .default)
            return far
        case .poll:
            let descriptor = try openPipe().reading
            return try PollSource { wait in
                wait.descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            } dispatch: { _ in
            }
        }
        return nil
    }

    /// Memory for each, and the thread's sleeps in two seconds: one is the sleep itself.
    func measure() throws {
        var kept: [Any?] = []
        kept.reserveCapacity(count + 100)
        // The first sources also allocate what is needed once: the loop, tables, the runtime's metadata.
        for _ in 0..<(self == .files ? 10 : 100) { kept.append(try add()) }
        let before = bk_resident()
        for _ in 0..<count { kept.append(try add()) }
        let bytes = Double(bk_resident() - before) / Double(count)
        RunLoop.current.runUntilIdle(in: .default)
        let sleeps = sleepsOfThisThread()
        RunLoop.current.run(in: .default, for: .seconds(2))
        let wakeUps = sleepsOfThisThread() - sleeps - 1
        let name = rawValue.padding(to: 12)
        print("\(name)\(Int(bytes)) bytes, \(wakeUps) wake-ups in two seconds of \(kept.count)")
        for case let child as Child in kept { child.terminate() }
        withExtendedLifetime(kept) {}
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: width - count) }
}

/// A pipe whose ends this process keeps open to its end.
private func openPipe() throws -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw RunLoop.SystemCallError(call: "pipe", code: errno) }
    return (ends[0], ends[1])
}

private func sleepsOfThisThread() -> Int {
    var usage = rusage()
    // RUSAGE_THREAD, which Swift does not see.
    getrusage(__rusage_who_t(1), &usage)
    return usage.ru_nvcsw
}

@main enum Rest {
    static func main() throws {
        if let name = CommandLine.arguments.dropFirst().first {
            guard let kind = Kind(rawValue: name) else { fatalError("no kind \(name)") }
            return try kind.measure()
        }
        for kind in Kind.allCases {
            let child = try Child.spawn(.path("/proc/self/exe"), arguments: [kind.rawValue])
            let source = ChildSource(child) { _, _ in RunLoop.current.stop() }
            try RunLoop.current.add(source, in: .default)
            RunLoop.current.run()
        }
    }
}
