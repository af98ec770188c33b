// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsEvents

/// Children that are spawned in a terminal of their own.
@Suite(.ownThread, .leavesNothing) struct ChildTerminalProcessTests {
    private static let size = Child.Terminal.Size(columns: 80, rows: 24)

    // MARK: What the child gets

    @Test func `A child leads a session whose controlling terminal is its standard streams`() throws {
        try withLoop { loop in
            let script = """
                own=$(tty); stty size; echo $own; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo streams; echo own >/dev/tty
                read -r _ _ _ _ group session _ foreground _ </proc/$$/stat; echo $$ $group $session $foreground
                readlink /proc/$$/fd/* | grep -c -e $own; readlink /proc/$$/fd/* | grep -c ptmx || true
                """
            let screen = try Screen(script, on: loop)
            let process = screen.child.process
            try screen.run { $0.hasEnded }
            #expect(
                screen.lines == [
                    "24 80", screen.terminal.path, "streams", "own", "\(process) \(process) \(process) \(process)", "3",
                    "0",
                ])
            #expect(waitForEnd(screen.child) == .exited(0))
        }
    }

    @Test func `The controlling side does not block, is closed on exec and is not a standard stream`() throws {
        let child = try Child.spawn(.name("cat"), terminal: Self.size)
        let number = try #require(child.standardOutput?.descriptor)
        #expect(number > STDERR_FILENO)
        #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(child.standardError == nil)
        var settings = termios()
        #expect(tcgetattr(number, &settings) == 0)
        #expect(settings.c_iflag & tcflag_t(IUTF8) != 0)
        child.terminal?.close()
        #expect(waitForEnd(child) == .signalled(SIGHUP, dumpedCore: false))
    }

    @Test func `A shell in a terminal has job control, and a signal of a key reaches the job in the foreground`() throws
    {
        try withLoop { loop in
            let screen = try Screen(program: "sh", ["-i"], ["PS1": "$ ", "ENV": ""], on: loop)
            try screen.run { $0.text.contains("$ ") }
            screen.type("echo \"flags=$-\"\n")
            try screen.run { $0.lines.contains { $0.hasPrefix("flags=") && $0.contains("m") } }
            #expect(screen.terminal.foregroundGroup == screen.child.process)
            screen.type("sleep 600; echo status=$?\n")
            waitUntil { ![screen.child.process, nil].contains(screen.terminal.foregroundGroup) }
            try screen.terminal.sendToForeground(SIGINT)
            try screen.run { $0.text.contains("status=130") || $0.text.hasSuffix("$ ") }
            screen.type("exit 3\n")
            try screen.run { $0.hasEnded }
            #expect(waitForEnd(screen.child) == .exited(3))
        }
    }

    @Test func `resize changes the size that the child sees and sends it SIGWINCH`() throws {
        try withLoop { loop in
            let screen = try Screen(
                "trap 'stty size; kill $!; exit 7' WINCH; sleep 600 & echo ready; wait", on: loop)
            try screen.run { $0.text.contains("ready") }
            #expect(try screen.terminal.size() == Self.size)
            let size = Child.Terminal.Size(columns: 132, rows: 43, width: 1320, height: 860)
            try screen.terminal.resize(to: size)
            try screen.run { $0.hasEnded }
            #expect(screen.lines.last == "43 132")
            #expect(try screen.terminal.size() == size)
            #expect(waitForEnd(screen.child) == .exited(7))
        }
    }

    @Test func `A child that floods its terminal sees the last of many sizes`() throws {
        try withLoop { loop in
            // The end of `yes` may be in the middle of a line.
            let screen = try Screen("yes & read line; kill $!; wait; echo; stty size", on: loop)
            for columns in 1...(isThorough ? 5000 : 500) as ClosedRange<UInt16> {
                try screen.terminal.resize(to: Child.Terminal.Size(columns: columns, rows: columns % 50 + 1))
                loop.runTurn(in: .default)
            }
            try screen.terminal.resize(to: Child.Terminal.Size(columns: 77, rows: 33))
            screen.type("\n")
            try screen.run { $0.hasEnded }
            #expect(screen.lines.last == "33 77")
            #expect(waitForEnd(screen.child) == .exited(0))
        }
    }

    // MARK: Input and output

    @Test func `EIO of a terminal that no process has open is the end of the input`() throws {
        try withLoop { loop in
            let child = try Child.spawn(.name("printf"), arguments: ["one\\ntwo"], terminal: Self.size)
            let events = Box<[String]>([])
            let reader = InputReader(try #require(child.standardOutput), as: .lines) { _, event in
                switch event {
                case .received(let lines): events.value += lines
                case .ended: events.value.append("(ended)")
                case .failed(let error): events.value.append("\(error)")
                }
            }
            try loop.add(reader, in: .default)
            #expect(loop.runPlenty() == .finished)
            #expect(events.value == ["one", "two", "(ended)"])
            #expect(waitForEnd(child) == .exited(0))
        }
    }

    @Test func `A completion reports what a child has written to its terminal`() throws {
        try withLoop { loop in
            // More than a terminal holds.
            let command = "yes 0123456789 | head -n 20000; stty size"
            let child = try Child.spawn(.name("sh"), arguments: ["-c", command], terminal: Self.size)
            let outcome = try complete(child, on: loop)
            guard case .success(let report) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(report.outputText == String(repeating: "0123456789\r\n", count: 20000) + "24 80\r\n")
            #expect(report.exit.status == .exited(0))
        }
    }

    @Test func `A child that floods its terminal does not stop the loop`() throws {
        let thread = try RunLoopThread(name: "parent")
        let heartbeat = Heartbeat(on: thread.loop)
        let child = try Child.spawn(.name("yes"), terminal: Self.size)
        let count = Locked(0)
        let isDone = Permit()
        let reader = InputReader.sendable(try #require(child.standardOutput), as: .lines) { _, event in
            switch event {
            case .received(let lines): count.withLock { $0 += lines.count }
            case .ended: isDone.signal()
            case .failed(let error): Issue.record("\(error)")
            }
        }
        add(reader, to: thread.loop)
        waitUntil { count.copy > 100_000 }
        #expect(heartbeat.goesOn())
        child.terminate()
        isDone.wait()
        heartbeat.end("floods its terminal")
        #expect(waitForEnd(child) == .signalled(SIGHUP, dumpedCore: false))
        end(thread)
    }

    @Test(arguments: ["", "stty raw -echo; "])
    func `Writing to a child that never reads its terminal does not stop the loop`(_ settings: String) throws {
        let thread = try RunLoopThread(name: "parent")
        let heartbeat = Heartbeat(on: thread.loop)
        let child = try Child.spawn(
            .name("sh"), arguments: ["-c", "\(settings)echo ready; exec sleep 600"], terminal: Self.size)
        let (shown, failure) = (Locked(""), Locked<RunLoop.SystemCallError?>(nil))
        let (isReady, hasFailed) = (Permit(), Permit())
        let reader = InputReader.sendable(try #require(child.standardOutput), as: .bytes) { _, event in
            guard case .received(let bytes) = event else { return }
            let isFirst = shown.withLock { shown in
                defer { shown += String(decoding: bytes, as: UTF8.self) }
                return !shown.contains("ready")
            }
            if isFirst, shown.copy.contains("ready") { isReady.signal() }
        }
        let writer = OutputWriter.sendable(try #require(child.standardInput)) { _, event in
            guard case .failed(let error) = event else { return }
            failure.withLock { $0 = error }
            hasFailed.signal()
        }
        for source in [reader, writer] as [EventSource] { add(source, to: thread.loop) }
        isReady.wait()
        let line = Array(String(repeating: "x", count: 99).utf8) + [10]
        for _ in 0..<10_000 { writer.write(line) }
        #expect(heartbeat.goesOn())
        #expect(writer.unsentCount > 0)
        child.terminate()
        hasFailed.wait()
        #expect(failure.copy?.code == EIO)
        heartbeat.end("never reads its terminal")
        #expect(waitForEnd(child) == .signalled(SIGHUP, dumpedCore: false))
        end(thread)
    }

    @Test func `A writer without bytes to write does not keep the loop busy after the end of its terminal`() throws {
        try withLoop { loop in
            let screen = try Screen("exit 0", on: loop)
            let writer = OutputWriter(try #require(screen.child.standardInput)) { _, _ in }
            try loop.add(writer, in: .default)
            try screen.run { $0.hasEnded }
            let turns = Box(0)
            let observer = RunLoop.Observer(.beforeSources) { _, _ in turns.value += 1 }
            loop.add(observer, in: .default)
            #expect(loop.run(in: .default, for: .milliseconds(50)) == .timedOut)
            #expect(turns.value < 10)
            writer.invalidate()
            #expect(waitForEnd(screen.child) == .exited(0))
        }
    }

    // MARK: The end

    @Test func `A process that keeps the terminal open after the child's end delays the end of the input`() throws {
        try withLoop { loop in
            let screen = try Screen("trap '' HUP; (echo left; exec sleep 600) & exit 4", on: loop)
            #expect(waitForEnd(screen.child) == .exited(4))
            try screen.run { $0.text.contains("left") }
            #expect(!screen.hasEnded)
            // A completion waits no longer than it is allowed to.
            let outcome = try complete(screen.child, on: loop, reader: screen.reader)
            guard case .failure(let failure) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(failure.reason == .heldOpen)
            #expect(failure.report.exit.status == .exited(4))
            guard screen.child.ownGroup == .byDescriptor else {
                // Before Linux 6.9 its number may be another's.
                #expect(kill(-screen.child.process, SIGKILL) == 0)
                return
            }
            let end = try Screen.End(of: screen.child, on: loop)
            screen.child.terminate(killAfter: .zero, on: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(end.hasEnded)
        }
    }

    @Test func `A completion reads what a terminal holds when another process keeps it open`() throws {
        try withLoop { loop in
            // All of it is in the terminal before the completion is made: more than the kernel counts, less than it holds.
            let command = "trap '' HUP; stty raw; (exec sleep 600) & yes 0123456789abcde | head -n 500; exit 0"
            let child = try Child.spawn(.name("sh"), arguments: ["-c", command], terminal: Self.size)
            #expect(waitForEnd(child) == .exited(0))
            let outcome = try complete(child, on: loop)
            guard case .failure(let failure) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(failure.reason == .heldOpen)
            #expect(failure.report.output.count == 500 * 16)
            #expect(kill(-child.process, SIGKILL) == 0)
        }
    }

    @Test func `terminate ends an interactive shell, which ignores SIGTERM`() throws {
        try withLoop { loop in
            let screen = try Screen(program: "sh", ["-i"], ["PS1": "$ ", "ENV": ""], on: loop)
            try screen.run { $0.text.contains("$ ") }
            screen.child.terminate()
            try screen.run { $0.hasEnded }
            #expect(waitForEnd(screen.child).isSuccess == false)
        }
    }

    @Test(arguments: [false, true])
    func `A job in the foreground that ignores SIGHUP is killed after killAfter together with its shell`(
        _ isOldKernel: Bool
    ) throws {
        try withLoop { loop in
            let job = try Job(isOldKernel: isOldKernel, on: loop)
            #expect(job.child.terminal?.foregroundGroup == job.group)
            let began = ContinuousClock.now
            job.child.terminate(killAfter: .milliseconds(50), on: loop)
            #expect(loop.runPlenty() == .finished)
            job.waitForAll()
            #expect(ContinuousClock.now - began >= .milliseconds(50))
            #expect(job.child.exit != nil)
            #expect(waitpid(job.child.process, nil, WNOHANG) == -1, "the shell is reaped")
        }
    }

    @Test(arguments: [false, true])
    func `In virtual time a job in the foreground is killed exactly when killAfter has passed`(
        _ isOldKernel: Bool
    ) throws {
        try ManualRunLoop.with { manual in
            let job = try Job(isOldKernel: isOldKernel, on: nil)
            job.child.terminate(killAfter: .seconds(3600), on: manual.loop)
            manual.advance(by: .seconds(3599))
            #expect(kill(job.group, 0) == 0)
            manual.advance(by: .seconds(1))
            job.waitForAll()
        }
    }

    @Test func `terminate leaves no timer when the job in the foreground has ended before killAfter`() throws {
        try withLoop { loop in
            let job = try Job(ignoring: "TERM", on: loop)
            job.child.terminate(killAfter: .seconds(3600), on: loop)
            #expect(loop.runPlenty() == .finished)
            job.waitForAll()
            #expect(waitpid(job.child.process, nil, WNOHANG) == -1, "the shell is reaped")
        }
    }

    @Test func `A signal to the jobs of a terminal reaches no process of another session`() throws {
        let child = try Child.spawn(.name("cat"), terminal: Self.size)
        let other = try Child.spawn(.name("cat"), input: .pipe, output: .null, group: .new)
        _ = child.noteJob(other.process)
        #expect(!child.signalJobs(SIGKILL))
        #expect(child.signalAll(SIGKILL) == 0)
        #expect(waitForEnd(child) == .signalled(SIGKILL, dumpedCore: false))
        // The session's number can be another's now.
        #expect(!child.signalJobs(SIGKILL))
        other.standardInput?.close()
        #expect(waitForEnd(other) == .exited(0))
    }

    @Test func `Releasing a child and its terminal ends the child by SIGHUP`() throws {
        let alive = DescriptorPair.pipe()
        var child: Child? = try Child.spawn(.name("cat"), terminal: Self.size, descriptors: [3: alive.second])
        alive.closeSecond()
        let process = id_t(child?.process ?? 0)
        child = nil
        var byte: UInt8 = 0
        #expect(rl_wait_readable(alive.first, -1) > 0)
        #expect(read(alive.first, &byte, 1) == 0)
        waitUntil {
            Orphans.reap()
            var info = siginfo_t()
            return waitid(P_PID, process, &info, WEXITED | WNOWAIT | WNOHANG) == -1
        }
    }

    @Test func `A child that is killed at any moment ends its input and its completion`() throws {
        try withLoop { loop in
            var random = SeededRandom(56)
            for _ in 0..<(isThorough ? 300 : 60) {
                let child = try Child.spawn(
                    .name("sh"), arguments: ["-c", "stty -echo; echo x; stty size; stty sane; exec yes"],
                    terminal: Self.size)
                let pause = UInt32.random(in: 0..<8000, using: &random)
                let loopTimer = RunLoop.Timer(.after(.microseconds(Int64(pause)))) { _ in child.signalAll(SIGKILL) }
                loop.add(loopTimer, in: .default)
                // A program of the shell's, which is killed as well, may need a moment to close the terminal.
                let outcome = try complete(child, on: loop, limit: 1 << 26, outputWait: .seconds(60))
                guard case .success(let report) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(report.exit.status == .signalled(SIGKILL, dumpedCore: false))
            }
        }
    }

    // MARK: Errors and limits

    @Test func `Errors of a terminal name it`() throws {
        #expect(throws: Child.SpawnError(.execute, "nonexistent-program", code: ENOENT)) {
            try Child.spawn(.name("nonexistent-program"), terminal: Self.size)
        }
        let child = try Child.spawn(.name("cat"), terminal: Self.size)
        let terminal = try #require(child.terminal)
        func expect(_ name: String, _ code: CInt, _ call: () throws -> Void) {
            let error = #expect(throws: RunLoop.SystemCallError.self) { try call() }
            #expect(error?.code == code)
            #expect("\(error, default: "")".hasPrefix("\(name) of \(terminal.path): "))
        }
        expect("TIOCSIG", EINVAL) { try terminal.sendToForeground(SIGTERM) }
        #expect("\(terminal)" == "<Child.Terminal \(terminal.path)>{80×24}")
        terminal.close()
        terminal.close()
        expect("TIOCSWINSZ", EBADF) { try terminal.resize(to: Self.size) }
        expect("TIOCGWINSZ", EBADF) { _ = try terminal.size() }
        expect("TIOCSIG", EBADF) { try terminal.sendToForeground(SIGINT) }
        #expect(terminal.foregroundGroup == nil)
        #expect("\(terminal)" == "<Child.Terminal \(terminal.path)>{closed}")
        #expect(waitForEnd(child) == .signalled(SIGHUP, dumpedCore: false))
    }

    @Test func `A hundred children in terminals leave no descriptor`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            try TestThread.run { () throws in
                let loop = RunLoop.current
                func play(_ count: Int) throws {
                    for _ in 0..<count {
                        let child = try Child.spawn(.name("stty"), arguments: ["size"], terminal: Self.size)
                        let outcome = try complete(child, on: loop)
                        #expect(try outcome.get().outputText == "24 80\r\n")
                    }
                }
                try play(1)
                let before = countOpenNumbers()
                try play(100)
                #expect(countOpenNumbers() == before)
            }
        }
    }

    @Test func `A spawn in a terminal that is refused a descriptor leaves the descriptors as they were`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            func spawnAndWait() throws(Child.SpawnError) {
                let child = try Child.spawn(.name("true"), terminal: Self.size)
                _ = waitForEnd(child)
            }
            try spawnAndWait()
            let before = countOpenNumbers()
            var refused: [Child.SpawnError] = []
            for left in 0..<20 {
                let scarcity = Scarcity(left: left)
                let full = countOpenNumbers()
                do throws(Child.SpawnError) {
                    try spawnAndWait()
                    scarcity.end()
                    break
                } catch {
                    #expect(countOpenNumbers() == full)
                    scarcity.end()
                    refused.append(error)
                }
            }
            // The two sides, the descriptor of the process, and in the child room to move the streams.
            let room = Child.SpawnError(.descriptors, "true", code: EMFILE)
            let outside: [Child.SpawnError] = [
                .init(.terminal, "/dev/ptmx", code: EMFILE), .init(.terminal, "/dev/ptmx", code: EMFILE),
                .init(.clone, "true", code: EMFILE),
            ]
            #expect(refused == outside + Array(repeating: room, count: max(0, refused.count - 3)))
            #expect(refused.count < 20)
            #expect(countOpenNumbers() == before)
        }
    }

    @Test func `A parent without standard streams spawns a child in a terminal`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            for stream in STDIN_FILENO...STDERR_FILENO { close(stream) }
            let child = try Child.spawn(
                .name("sh"), arguments: ["-c", "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : >/dev/tty"], terminal: Self.size)
            #expect((STDIN_FILENO...STDERR_FILENO).allSatisfy { !rl_is_open($0) })
            #expect(waitForEnd(child) == .exited(0))
        }
    }
}

// MARK: Support

/// A child in a terminal whose output is read by the loop of this thread.
private final class Screen {
    let child: Child
    let terminal: Child.Terminal
    let loop: RunLoop
    private let state = Box((text: "", hasEnded: false))
    private(set) var reader: InputReader<UInt8>!

    convenience init(_ script: String, on loop: RunLoop) throws {
        try self.init(program: "sh", ["-c", script], [:], on: loop)
    }

    init(program: String, _ arguments: [String], _ variables: [String: String], on loop: RunLoop) throws {
        self.loop = loop
        child = try Child.spawn(
            .name(program), arguments: arguments, environment: .updating(variables),
            terminal: Child.Terminal.Size(columns: 80, rows: 24))
        terminal = try #require(child.terminal)
        let state = state
        reader = InputReader(try #require(child.standardOutput), as: .bytes) { _, event in
            switch event {
            case .received(let bytes): state.value.text += String(decoding: bytes, as: UTF8.self)
            case .ended: state.value.hasEnded = true
            case .failed(let error): Issue.record("\(error)")
            }
        }
        try loop.add(reader, in: .default)
    }

    deinit { reader.invalidate() }

    var text: String { state.value.text }
    var lines: [String] { text.split(separator: "\r\n").map(String.init) }
    var hasEnded: Bool { state.value.hasEnded }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        let file = child.standardInput
        #expect(write(file?.descriptor ?? -1, bytes, bytes.count) == bytes.count)
    }

    /// Runs the loop until the condition holds.
    func run(until condition: (Screen) -> Bool) throws {
        while !condition(self) {
            try #require(loop.runPlenty(returnsAfterSource: true) == .handledSource, "\(text)")
        }
    }

    /// Whether the terminal's input has ended.
    final class End {
        private let state = Box(false)
        var hasEnded: Bool { state.value }

        init(of child: Child, on loop: RunLoop) throws {
            let state = state
            let reader = InputReader(try #require(child.standardOutput), as: .bytes) { _, event in
                if case .ended = event { state.value = true }
            }
            try loop.add(reader, in: .default)
        }
    }
}

/// A shell with job control whose job in the foreground ignores signals; the shell itself ends at SIGHUP.
private final class Job {
    let child: Child
    /// The number of the job's group.
    let group: CInt
    private let made: Child
    /// At its end no process is left.
    private let alive = DescriptorPair.pipe()

    init(ignoring signals: String = "HUP TERM", isOldKernel: Bool = false, on loop: RunLoop?) throws {
        let job = "sh -c 'trap \"\" \(signals); echo ready; exec sleep 600'"
        made = try Child.spawn(
            .name("sh"), arguments: ["-m", "-c", "\(job); exit 1"],
            terminal: Child.Terminal.Size(columns: 80, rows: 24), descriptors: [3: alive.second])
        alive.closeSecond()
        let terminal = try #require(made.terminal)
        child =
            isOldKernel
            ? Child(made.process, made.file, .byNumber, terminal.input, terminal.output, nil, terminal: terminal) : made
        let output = try #require(child.standardOutput?.descriptor)
        var text = ""
        while !text.contains("ready") {
            #expect(rl_wait_readable(output, -1) > 0)
            text += readText(output)
        }
        group = terminal.foregroundGroup ?? 0
        #expect(group > 0 && group != child.process)
    }

    func waitForAll() {
        var byte: UInt8 = 0
        #expect(rl_wait_readable(alive.first, -1) > 0)
        #expect(read(alive.first, &byte, 1) == 0)
    }
}

/// How a child has ended, and what its terminal has shown.
private func complete(
    _ child: Child, on loop: RunLoop, limit: Int = 1 << 20, outputWait: Duration = .milliseconds(10),
    reader: InputReader<UInt8>? = nil
) throws -> Result<ChildCompletion.Report, ChildCompletion.Failure> {
    // A loop has one reader of a descriptor.
    reader?.invalidate()
    let outcome = Box<Result<ChildCompletion.Report, ChildCompletion.Failure>?>(nil)
    let completion = ChildCompletion(child, limit: limit, outputWait: outputWait) { _, result in
        outcome.value = result
        loop.stop()
    }
    try loop.add(completion, in: .default)
    #expect(loop.runPlenty() == .stopped)
    return try #require(outcome.value)
}
