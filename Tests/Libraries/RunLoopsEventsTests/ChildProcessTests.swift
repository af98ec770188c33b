// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Children that are spawned: what they get, what they say, how they end.
@Suite(.ownThread, .leavesNothing) struct ChildProcessTests {
    // MARK: What a child gets

    @Test func `Arguments are passed unchanged, and a name is looked up in the child's PATH`() throws {
        let directory = TemporaryDirectory()
        directory.write("hello", "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\"\n")
        chmod(directory.path("hello"), 0o700)
        let arguments = ["", "a b", "$HOME", "äöü\n"]
        let expected = "\(directory.path("hello"))||a b|$HOME|äöü\n|"
        #expect(try output(of: .path(directory.path("hello")), arguments) == expected)
        let environment = Child.Environment.only(["PATH": "/nowhere::\(directory.path)"])
        #expect(try output(of: .name("hello"), arguments, environment: environment) == expected)
        #expect(throws: Child.SpawnError(.execute, "hello", code: ENOENT)) {
            try Child.spawn(.name("hello"), environment: .only([:]))
        }
    }

    @Test func `A spawn of a program that is open for writing is retried before it throws ETXTBSY`() throws {
        let directory = TemporaryDirectory()
        directory.write("busy", "#!/bin/sh\n")
        chmod(directory.path("busy"), 0o700)
        let writer = open(directory.path("busy"), O_WRONLY | O_CLOEXEC)
        defer { close(writer) }
        let start = RunLoop.Instant.now
        #expect(throws: Child.SpawnError(.execute, directory.path("busy"), code: ETXTBSY)) {
            try Child.spawn(.path(directory.path("busy")))
        }
        #expect(start.duration(to: .now) >= .milliseconds(40))
    }

    @Test(arguments: [SIGQUIT, SIGXCPU, SIGABRT])
    func `A signal that may leave a core file ends a child before its program as an error of the spawn`(
        _ signal: CInt
    ) throws {
        let directory = TemporaryDirectory()
        directory.write("busy", "#!/bin/sh\n")
        chmod(directory.path("busy"), 0o700)
        // The child tries again for 40 ms.
        let writer = open(directory.path("busy"), O_WRONLY | O_CLOEXEC)
        defer { close(writer) }
        let path = directory.path("busy")
        var code = ETXTBSY
        // This thread may be late for a child.
        while code == ETXTBSY {
            let spawner = Locked<pid_t>(0)
            // 0 for a child that has begun its program.
            let ended = Locked<CInt?>(nil)
            let thread = TestThread {
                spawner.withLock { $0 = rl_find_thread_id() }
                do throws(Child.SpawnError) {
                    _ = try Child.spawn(.path(path))
                    ended.withLock { $0 = 0 }
                } catch {
                    ended.withLock { $0 = error.code }
                }
            }
            while ended.copy == nil {
                let file = open("/proc/self/task/\(spawner.copy)/children", O_RDONLY | O_CLOEXEC)
                if let child = pid_t(readText(file).prefix { $0 != " " }) { kill(child, signal) }
                close(file)
            }
            thread.join()
            code = ended.copy ?? 0
        }
        #expect(code == EINTR)
    }

    @Test func `A PATH whose first character joins the equals sign is searched`() throws {
        // The first character of the value is an accent, which a text would join to the equals sign.
        let directory = TemporaryDirectory()
        directory.makeDirectory("\u{301}bin")
        try #require(symlink("/bin/sh", directory.path("\u{301}bin/runloops-shell")) == 0)
        let environment = Child.Environment.only(["PATH": "\u{301}bin"])
        #expect(
            try output(
                of: .name("runloops-shell"), ["-c", "echo found"], environment: environment, directory: directory.path)
                == "found\n")
    }

    @Test(arguments: ["", "=", "PATH=/evil:", "A=B"])
    func `A variable whose name is empty or has an equals sign is refused`(_ name: String) throws {
        let expected = Child.SpawnError(.text, name, code: EINVAL)
        for environment in [Child.Environment.only([name: "x"]), .updating([name: "x"]), .updating([name: nil])] {
            #expect(throws: expected) { try Child.spawn(.path("/bin/true"), environment: environment) }
        }
    }

    @Test func `A child gets its own directory, process group, session and limits`() throws {
        let directory = TemporaryDirectory()
        #expect(try shell("pwd", directory: directory.path) == "\(directory.path)\n")
        // Group and session are the fifth and the sixth field.
        let identity = "echo $$; cut -d' ' -f5,6 /proc/$$/stat"
        let inherited = try shell(identity).split(whereSeparator: \.isWhitespace).map { CInt($0) }
        #expect(inherited.suffix(2) == [getpgrp(), getsid(0)])
        let grouped = try shell(identity, group: .new).split(whereSeparator: \.isWhitespace).map { CInt($0) }
        #expect(grouped[1] == grouped[0])
        #expect(grouped[2] == getsid(0))
        let leading = try shell(identity, group: .newSession).split(whereSeparator: \.isWhitespace).map { CInt($0) }
        #expect(leading[1...] == [leading[0], leading[0]])
        let limits: [Child.Limit] = [.openFiles(64), .processorTime(.seconds(5)), .coreDump(0), .stack(1 << 20)]
        #expect(try shell("ulimit -n; ulimit -t; ulimit -c; ulimit -s", limits: limits) == "64\n5\n0\n1024\n")
        let leader = try Child.spawn(.name("cat"), input: .pipe, group: .new)
        let member = try shell(identity, group: .joined(leader.process)).split(whereSeparator: \.isWhitespace)
        #expect(CInt(member[1]) == leader.process)
        leader.terminate()
        // No zombie of a test of this process: the runner waits for exit tests among all children.
        #expect(waitForEnd(leader) == .signalled(SIGTERM, dumpedCore: false))
    }

    @Test func `A child has only the descriptors given to it, and no signal is blocked or ignored in it`() async {
        await #expect(processExitsWith: .success) {
            // A descriptor that is not close-on-exec, and another with a high number.
            let leaked = dup(STDIN_FILENO)
            let high = duplicateFarAway(STDIN_FILENO)
            _ = fcntl(high, F_SETFD, 0)
            #expect(leaked > 2)
            // By the shell itself: while it starts a program, the shell blocks all signals.
            let list = """
                for one in /proc/$$/fd/*; do printf '%s ' ${one##*/}; done; echo
                while read name value; do case $name in Sig*) echo $name$value;; esac; done </proc/$$/status
                """
            signal(SIGPIPE, SIG_IGN)
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, nil)
            let pair = DescriptorPair.pipe()
            // The two ends change places: a number is given away before its descriptor is taken.
            let text = try shell(list, descriptors: [5: pair.first, 9: pair.second])
            // The shell opens one for itself while it lists them.
            let numbers = Set(text.split(separator: "\n")[0].split(separator: " ").compactMap { CInt($0) })
            #expect(numbers.isSuperset(of: [0, 1, 2, 5, 9]))
            #expect(!numbers.contains(high))
            #expect(numbers.count <= 6, "\(numbers)")
            #expect(text.contains("SigIgn:0000000000000000"))
            #expect(text.contains("SigBlk:0000000000000000"))
            // This process has its mask and its disposition still.
            var present = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &present)
            #expect(sigismember(&present, SIGUSR1) == 1)
        }
    }

    @Test func `A child can read a file whose name is not UTF-8 by its descriptor`() throws {
        let directory = TemporaryDirectory()
        directory.write(FileNames.notUTF8, "read")
        let file = open(cText(directory.path(FileNames.notUTF8)), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(try output(of: .name("cat"), ["/dev/fd/3"], descriptors: [3: file]) == "read")
    }

    @Test func `A child can get two descriptors with their numbers swapped`() throws {
        let (first, second) = (DescriptorPair.pipe(), DescriptorPair.pipe())
        // Each gets the number of the other.
        let child = try Child.spawn(
            .name("sh"), arguments: ["-c", "echo one >/dev/fd/\(second.second); echo two >/dev/fd/\(first.second)"],
            descriptors: [second.second: first.second, first.second: second.second])
        #expect(waitForEnd(child).isSuccess)
        #expect(readText(first.first) == "one\n")
        #expect(readText(second.first) == "two\n")
    }

    @Test func `A child's streams can be files, descriptors or null, and errors can be combined with output`() throws {
        let directory = TemporaryDirectory()
        directory.write("in", "text")
        let file = directory.path("out")
        for (appending, expected) in [(false, "text"), (true, "texttext"), (false, "text")] {
            let child = try Child.spawn(
                .name("cat"), input: .file(directory.path("in")), output: .file(file, appending: appending))
            #expect(waitForEnd(child).isSuccess)
            let opened = open(file, O_RDONLY | O_CLOEXEC)
            #expect(readText(opened) == expected)
            close(opened)
        }
        let pair = DescriptorPair.pipe()
        let child = try Child.spawn(
            .name("sh"), arguments: ["-c", "cat; echo out; echo error >&2"], input: .null,
            output: .descriptor(pair.second), error: .combinedWithOutput)
        #expect(waitForEnd(child).isSuccess)
        #expect(readText(pair.first) == "out\nerror\n")
        let silent = try Child.spawn(.name("sh"), arguments: ["-c", "echo x; echo y >&2"], output: .null, error: .null)
        #expect(waitForEnd(silent).isSuccess)
    }

    // MARK: What cannot be

    @Test func `A spawn that the system refuses throws an error with the failed step and leaves nothing behind`() async
    {
        await #expect(processExitsWith: .success) { try expectRefusals() }
    }

    // MARK: How a child ends

    @Test func `A child's exit is reported to every source and task, even to a task that asks afterwards`() async throws
    {
        let thread = try RunLoopThread(name: "ends")
        let child = try Child.spawn(.name("sh"), arguments: ["-c", "read line; exit 7"], input: .pipe)
        #expect(child.exit == nil)
        async let first = thread.loop.exit(of: child)
        async let second = thread.loop.exit(of: child)
        let told = Locked<ChildSource.Exit?>(nil)
        let source = ChildSource.sendable(child) { _, exit in told.withLock { $0 = exit } }
        try thread.loop.add(source, in: .default)
        let input = try #require(child.standardInput)
        try await thread.loop.write("line\n".utf8, to: input)
        input.close()
        let exit = try await first
        #expect(exit.status == .exited(7))
        #expect(exit.process == child.process)
        #expect((exit.usage?.maxResidentBytes ?? 0) > 0)
        #expect(try await second == exit)
        #expect(try await thread.loop.exit(of: child) == exit)
        #expect(child.exit == exit)
        while source.isValid { await Task.yield() }
        _ = try await thread.loop.result { true }
        #expect(told.copy == exit)
        #expect(throws: RunLoop.SystemCallError(call: "pidfd_send_signal", code: ESRCH)) { try child.send(SIGKILL) }
        end(thread)
    }

    @Test func `exit(of:) throws when its task is cancelled or the thread ends, and leaves the child running`()
        async throws
    {
        let thread = try RunLoopThread(name: "cancelled")
        let child = try Child.spawn(.name("cat"), input: .pipe, output: .null)
        let loop = thread.loop
        let waiting = Task { try await loop.exit(of: child) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(child.exit == nil)
        let deserted = Task { try await loop.exit(of: child) }
        while try await loop.result(of: { "\(loop)" }).isEmpty {}
        end(thread)
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await deserted.value }
        child.terminate()
        #expect(waitForEnd(child) == .signalled(SIGTERM, dumpedCore: false))
        child.terminate()
    }

    @Test func `A child's exit is reported while a grandchild holds its output, and the output is read to its end`()
        async throws
    {
        let thread = try RunLoopThread(name: "grandchild")
        // The grandchild keeps the pipe after the child's end.
        let child = try Child.spawn(
            .name("sh"), arguments: ["-c", "exec 3<&0; (read line <&3; echo late) & echo early"], input: .pipe,
            output: .pipe)
        let lines = try thread.loop.lines(of: try #require(child.standardOutput))
        #expect(try await thread.loop.exit(of: child).status.isSuccess)
        try await thread.loop.write("go\n".utf8, to: try #require(child.standardInput))
        var seen: [String] = []
        for try await line in lines { seen.append(line) }
        #expect(seen == ["early", "late"])
        end(thread)
    }

    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: ["waitpid", "ignored"])
    func `The status of a child reaped elsewhere comes from the kernel, or is unknown before Linux 6.15`(
        _ thief: String
    ) async {
        await #expect(processExitsWith: .success) { [thief] in
            try withLoop { loop in
                if thief == "ignored" { signal(SIGCHLD, SIG_IGN) }
                let child = try Child.spawn(.name("sh"), arguments: ["-c", "exit 5"])
                let killed = try Child.spawn(.name("sh"), arguments: ["-c", "kill -9 $$"])
                for _ in 0..<2 where thief == "waitpid" { #expect(waitpid(-1, nil, 0) > 0) }
                let told = Box<[CInt: ChildSource.Exit]>([:])
                for one in [child, killed] {
                    add(ChildSource(one) { _, exit in told.value[exit.process] = exit }, to: loop)
                }
                #expect(loop.runPlenty() == .finished)
                let isKept = kernelKeepsExits()
                #expect(told.value[child.process]?.status == (isKept ? .exited(5) : .unknown))
                #expect(
                    told.value[killed.process]?.status == (isKept ? .signalled(SIGKILL, dumpedCore: false) : .unknown))
                #expect(told.value.values.allSatisfy { $0.usage == nil })
            }
        }
    }
    #endif

    // MARK: Input and output

    @Test func `Megabytes are written to a child and read from it at the same time`() async throws {
        let thread = try RunLoopThread(name: "cat")
        let loop = thread.loop
        let child = try Child.spawn(.name("cat"), input: .pipe, output: .pipe)
        let (input, output) = (try #require(child.standardInput), try #require(child.standardOutput))
        let portion = [UInt8](repeating: 0x61, count: 99_999) + [10]
        let rounds = isFull ? 300 : 30
        let writing = Task {
            for _ in 0..<rounds { try await loop.write(portion, to: input) }
            input.close()
        }
        var lines = 0
        for try await line in try loop.lines(of: output) {
            #expect(line.utf8.count == 99_999)
            lines += 1
        }
        try await writing.value
        #expect(lines == rounds)
        #expect(try await loop.exit(of: child).status.isSuccess)
        end(thread)
    }

    @Test func `OutputWriter.write returns false when full, and events report when it is drained and finished`() throws
    {
        try withLoop { loop in
            let child = try Child.spawn(.name("wc"), arguments: ["-c"], input: .pipe, output: .pipe)
            try child.send(SIGSTOP)
            let events = Box<[OutputWriter.Event]>([])
            let total = Box(0)
            let portion = [UInt8](repeating: 1, count: 50_000)
            let input = try #require(child.standardInput)
            let writer = OutputWriter(input) { writer, event in
                events.value.append(event)
                if event == .drained {
                    #expect(writer.unsentCount == 0)
                    writer.finish()
                }
            }
            add(writer, to: loop)
            repeat { total.value += portion.count } while writer.write(portion)
            #expect(writer.unsentCount >= 65536)
            try child.send(SIGCONT)
            let said = Box("")
            add(
                InputReader(try #require(child.standardOutput), as: .lines) { _, event in
                    if case .received(let lines) = event { said.value += lines.joined() }
                }, to: loop)
            let status = Box<ChildSource.Status?>(nil)
            add(ChildSource(child) { _, exit in status.value = exit.status }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(status.value?.isSuccess == true)
            #expect(events.value == [.drained, .finished])
            #expect(said.value == "\(total.value)")
            #expect(input.descriptor == nil)
            #expect(!writer.write([1]))
        }
    }

    @Test func `Writing to a child that has ended throws EPIPE and raises no signal`() async throws {
        let thread = try RunLoopThread(name: "gone")
        let child = try Child.spawn(.name("true"), input: .pipe)
        #expect(try await thread.loop.exit(of: child).status.isSuccess)
        let input = try #require(child.standardInput)
        await #expect(throws: RunLoop.SystemCallError(call: "write", code: EPIPE)) {
            // A process that another test starts has the other end, too, until it executes its program.
            while true { try await thread.loop.write([1, 2, 3], to: input) }
        }
        end(thread)
    }

    @Test func `A task that writes to a child that does not read can be cancelled`() async throws {
        let thread = try RunLoopThread(name: "full")
        let loop = thread.loop
        let child = try Child.spawn(.name("sleep"), arguments: ["600"], input: .pipe)
        let input = try #require(child.standardInput)
        let writing = Task { try await loop.write([UInt8](repeating: 0, count: 1 << 20), to: input) }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        try child.send(SIGKILL)
        #expect(try await loop.exit(of: child).status == .signalled(SIGKILL, dumpedCore: false))
        end(thread)
    }

    // MARK: Many

    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(.needsDescriptors(isFull ? 5000 : 1000), arguments: [true, false])
    func `A thousand children leave no zombie, no descriptor and no thread`(_ atOnce: Bool) async {
        await #expect(processExitsWith: .success) { [atOnce] in
            raiseDescriptorLimit()
            let count = isFull ? 1000 : 200
            let thread = try RunLoopThread(name: "many")
            let loop = thread.loop
            func run(_ number: Int) async throws {
                let child = try Child.spawn(
                    .name("sh"), arguments: ["-c", "read code; echo $code; exit $code"], input: .pipe, output: .pipe)
                guard let input = child.standardInput, let output = child.standardOutput else { return }
                try await loop.write("\(number % 200)\n".utf8, to: input)
                for try await line in try loop.lines(of: output) { #expect(line == "\(number % 200)") }
                #expect(try await loop.exit(of: child).status == .exited(CInt(number % 200)))
            }
            try await run(0)
            // The loop lets go of a child in the turn that reports its end, and this turn may be under way still.
            _ = try await loop.result { true }
            let before = (countPipesAndChildren(), countEntries("/proc/self/task"))
            if atOnce {
                try await withThrowingTaskGroup { group in
                    for number in 0..<count { group.addTask { try await run(number) } }
                    try await group.waitForAll()
                }
            } else {
                for number in 0..<count { try await run(number) }
            }
            #expect(waitpid(-1, nil, WNOHANG) == -1)
            _ = try await loop.result { true }
            #expect(countPipesAndChildren() == before.0)
            // The runtime starts threads of its own, a few.
            #expect(countEntries("/proc/self/task") - before.1 < 16)
            end(thread)
        }
    }
    #endif

    @Test func `Children whose Child objects are released are reaped when they end or at a later spawn`() async {
        await #expect(processExitsWith: .success) {
            let before = countPipesAndChildren()
            var children: [Child] = try (0..<20).map { _ in try .spawn(.name("cat"), input: .pipe, output: .null) }
            let numbers = children.map(\.process)
            // Their input ends with their objects.
            children = []
            for number in numbers {
                var info = siginfo_t()
                let options = WEXITED | WNOWAIT
                // ECHILD: reaped with its object already.
                while waitid(P_PID, id_t(number), &info, options) < 0, errno == EINTR {}
            }
            var last: Child? = try .spawn(.name("true"))
            #expect(last.map { waitForEnd($0).isSuccess } == true)
            last = nil
            #expect(waitpid(-1, nil, WNOHANG) == -1)
            #expect(countPipesAndChildren() == before)
        }
    }

    @Test func `Children spawned by several threads at once do not hold each other's pipes open`() async {
        await #expect(processExitsWith: .success) {
            let before = countPipesAndChildren()
            let threads = (0..<8).map { _ in
                TestThread {
                    for _ in 0..<20 {
                        #expect((try? shell("cat; echo done", input: .null)) == "done\n")
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(countPipesAndChildren() == before)
        }
    }

    @Test(.disabled(if: Sanitizer.isAny, "a sanitizer copies its locks"))
    func `A forked process cannot signal its parent's child and can spawn its own`() async {
        await #expect(processExitsWith: .success) {
            let child = try Child.spawn(.name("cat"), input: .pipe)
            let end = ForkedChild.run {
                guard child.exit == nil, (try? child.send(SIGKILL)) == nil else { return false }
                return try shell("echo own") == "own\n"
            }
            #expect(end == .good)
            #expect(child.exit == nil)
            child.terminate()
            #expect(waitForEnd(child) == .signalled(SIGTERM, dumpedCore: false))
        }
    }
}

/// How many descriptors of pipes and processes this process has open.
///
/// Not all descriptors: the runtime of an exit test may still be opening its own.
private func countPipesAndChildren() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        var target = [CChar](repeating: 0, count: 64)
        guard readlink("/proc/self/fd/\(name)", &target, 63) > 0 else { continue }
        let kind = target.withUnsafeBufferPointer { String(cString: $0.baseAddress.unsafelyUnwrapped) }
        if kind.hasPrefix("pipe:") || kind.contains("pidfd") { count += 1 }
    }
    return count
}

/// Whether a pidfd remembers how a process ended that others have reaped.
func kernelKeepsExits() -> Bool {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: &name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 15)
}

private func expectRefusals() throws {
    let directory = TemporaryDirectory()
    directory.write("text", "no program")
    let descriptors = countPipesAndChildren()
    let text = directory.path("text")
    expectRefusal(.execute, "/nothing", ENOENT) { try .spawn(.path("/nothing"), output: .pipe) }
    expectRefusal(.execute, "nothing-like-it", ENOENT) { try .spawn(.name("nothing-like-it")) }
    expectRefusal(.execute, "", ENOENT) { try .spawn(.name("")) }
    expectRefusal(.execute, text, EACCES) { try .spawn(.path(text)) }
    chmod(text, 0o700)
    expectRefusal(.execute, text, ENOEXEC) { try .spawn(.path(text)) }
    expectRefusal(.execute, "/bin/true", E2BIG) {
        try .spawn(.path("/bin/true"), arguments: [String(repeating: "x", count: 1 << 20)])
    }
    expectRefusal(.directory, "/nothing", ENOENT) { try .spawn(.name("true"), directory: "/nothing") }
    expectRefusal(.open, "/nothing", ENOENT) { try .spawn(.name("true"), input: .file("/nothing"), output: .pipe) }
    expectRefusal(.descriptors, "true", EBADF) { try .spawn(.name("true"), output: .descriptor(999)) }
    expectRefusal(.limits, "999", EINVAL) { try .spawn(.name("true"), limits: [.openFiles(64), .init(999, soft: 1)]) }
    expectRefusal(.group, "joined(1)", EPERM) { try .spawn(.name("true"), group: .joined(1)) }
    expectRefusal(.group, "joined(-1)", EPERM) { try .spawn(.name("true"), group: .joined(-1)) }
    expectRefusal(.text, "a\0b", EINVAL) { try .spawn(.name("true"), arguments: ["a\0b"]) }
    let scarcity = Scarcity(left: 3)
    #expect(throws: Child.SpawnError(.pipe, "1", code: EMFILE)) {
        try Child.spawn(.name("true"), input: .pipe, output: .pipe)
    }
    scarcity.end()
    let after = countPipesAndChildren()
    #expect(after == descriptors)
}

/// Expects that a child is refused, and leaves nothing behind.
private func expectRefusal(
    _ step: Child.SpawnError.Step, _ subject: String, _ code: CInt, _ body: () throws -> Child
) {
    let descriptors = countPipesAndChildren()
    do {
        _ = try body()
        Issue.record("a child, not an error at \(step)")
    } catch {
        #expect(error as? Child.SpawnError == Child.SpawnError(step, subject, code: code))
    }
    #expect(countPipesAndChildren() == descriptors)
    let left = waitpid(-1, nil, WNOHANG)
    #expect(left == -1, "a child is left after \(step)")
}

/// What a program writes to its output, to the end.
private func output(
    of executable: Child.Executable, _ arguments: [String] = [], environment: Child.Environment = .inherited,
    directory: String? = nil, input: Child.Input = .inherited, descriptors: [CInt: CInt] = [:],
    group: Child.Group = .inherited, limits: [Child.Limit] = []
) throws -> String {
    let child = try Child.spawn(
        executable, arguments: arguments, environment: environment, directory: directory, input: input, output: .pipe,
        descriptors: descriptors, group: group, limits: limits)
    guard let file = child.standardOutput else { return "" }
    return try TestThread.run {
        let text = Box("")
        try RunLoop.current.add(
            InputReader(file, as: .bytes) { _, event in
                if case .received(let bytes) = event { text.value += String(decoding: bytes, as: UTF8.self) }
            }, in: .default)
        try RunLoop.current.add(ChildSource(child) { _, _ in }, in: .default)
        #expect(RunLoop.current.runPlenty() == .finished)
        return text.value
    }
}

private func shell(
    _ command: String, environment: Child.Environment = .inherited, directory: String? = nil,
    input: Child.Input = .inherited, descriptors: [CInt: CInt] = [:], group: Child.Group = .inherited,
    limits: [Child.Limit] = []
) throws -> String {
    try output(
        of: .path("/bin/sh"), ["-c", command], environment: environment, directory: directory, input: input,
        descriptors: descriptors, group: group, limits: limits)
}
