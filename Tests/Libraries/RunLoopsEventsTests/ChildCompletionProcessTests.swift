// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Children whose outputs and exit are one completion.
@Suite(.ownThread, .leavesNothing) struct ChildCompletionProcessTests {
    // MARK: A child that ends

    @Test func `A completion reports output, errors and exit in one call`() throws {
        try withLoop { loop in
            let child = try spawn("echo out; echo bad >&2; echo more; exit 3")
            let result = complete(child, on: loop)
            let report = try #require(result).get()
            #expect(report.exit.status == .exited(3))
            #expect(report.exit.process == child.process)
            #expect((report.exit.usage?.maxResidentBytes ?? 0) > 0)
            #expect(report.outputText == "out\nmore\n")
            #expect(report.errorText == "bad\n")
            #expect(report == (try? result?.get()))
        }
    }

    @Test(arguments: ["exec >&- 2>&-; read line", "echo x; exec >&-; read line", "echo x >&2; exec 2>&-; read line"])
    func `A completion waits until output, error output and process have ended, in any order`(_ command: String) throws
    {
        try withLoop { loop in
            let child = try spawn(command, input: .pipe)
            let input = try #require(child.standardInput)
            loop.performLocally { input.close() }
            let report = try #require(complete(child, on: loop)).get()
            #expect(report.exit.status == .exited(1))
            #expect(report.output.count + report.error.count == (command.contains("echo") ? 2 : 0))
        }
    }

    @Test func `A completion reports a child without pipes and a child that has already ended`() throws {
        try withLoop { loop in
            let silent = try Child.spawn(.name("true"), output: .null, error: .null)
            #expect(try #require(complete(silent, on: loop)).get().output.isEmpty)
            let joined = try spawn("echo a; echo b >&2", error: .combinedWithOutput)
            _ = waitForEnd(joined)
            #expect(try #require(complete(joined, on: loop)).get().outputText == "a\nb\n")
            let closed = try spawn("exit 0")
            closed.standardOutput?.close()
            #expect(try #require(complete(closed, on: loop)).get().exit.status.isSuccess)
        }
    }

    @Test func `Lines of output and error output are reported while the child runs, until its time limit ends it`()
        throws
    {
        try withLoop { loop in
            let child = try spawn(
                "echo one; echo two >&2; read answer; printf 'got %s\\n' $answer; exec sleep 600", input: .pipe)
            let input = try #require(child.standardInput)
            let lines = Box<[String]>([])
            let result = Box<Result<ChildCompletion.Report, ChildCompletion.Failure>?>(nil)
            let completion = ChildCompletion(
                child, timeLimit: .seconds(1),
                onLine: { stream, line in
                    lines.value.append("\(stream): \(line)")
                    // Only a line that is reported at once gets the child to go on.
                    if lines.value.count == 2, let descriptor = input.descriptor { _ = write(descriptor, "three\n", 6) }
                },
                handler: { result.value = $1 })
            add(completion, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(lines.value.sorted() == ["error: two", "output: got three", "output: one"])
            guard case .failure(let failure) = result.value else { throw Failure() }
            #expect(failure.reason == .tookTooLong(.seconds(1)))
            #expect(failure.report.output.isEmpty && failure.report.error.isEmpty)
            #expect(failure.report.exit.status == .signalled(SIGTERM, dumpedCore: false))
        }
    }

    @Test func `A run nested in onLine reports all further lines before it reports the completion`() throws {
        try withLoop { loop in
            let child = try spawn("seq 200")
            // All lines, the ends of the pipes and the exit are there before the first line is reported.
            _ = waitForEnd(child)
            let lines = Box<[String]>([])
            let result = Box<Result<ChildCompletion.Report, ChildCompletion.Failure>?>(nil)
            let nested = Box<RunLoop.RunResult?>(nil)
            let completion = ChildCompletion(
                child,
                onLine: { _, line in
                    lines.value.append(line)
                    if lines.value.count == 1 { nested.value = loop.runPlenty() }
                },
                handler: { _, told in
                    #expect(lines.value == (1...200).map { "\($0)" })
                    result.value = told
                })
            add(completion, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(nested.value == .finished)
            #expect(try #require(result.value).get().exit.status == .exited(0))
            #expect(lines.value.count == 200)
        }
    }

    @Test func `Lines keep their order if onLine runs the loop for each of them`() throws {
        try withLoop { loop in
            // More than a portion.
            let child = try spawn("seq 30000")
            let lines = Box<[String]>([])
            let result = Box<Result<ChildCompletion.Report, ChildCompletion.Failure>?>(nil)
            let completion = ChildCompletion(
                child,
                onLine: { _, line in
                    lines.value.append(line)
                    loop.run(in: .default, until: .now, returnsAfterSource: true)
                },
                handler: { result.value = $1 })
            add(completion, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(lines.value == (1...30000).map { "\($0)" })
            #expect(try #require(result.value).get().exit.status == .exited(0))
        }
    }

    /// The lines and the reason for the failure of a child whose pipe another process holds, or that is ended.
    private static func begunLines(
        _ command: String, limit: Int = 1 << 20, outputWait: Duration = .seconds(300), timeLimit: Duration? = nil
    ) throws -> ([String], ChildCompletion.Failure.Reason?) {
        try withLoop { loop in
            let child = try spawn(command, input: .pipe)
            let lines = Box<[String]>([])
            let reason = Box<ChildCompletion.Failure.Reason?>(nil)
            let completion = ChildCompletion(
                child, limit: limit, outputWait: outputWait, timeLimit: timeLimit,
                onLine: { lines.value.append("\($0): \($1)") },
                handler: { if case .failure(let failure) = $1 { reason.value = failure.reason } })
            add(completion, to: loop)
            #expect(loop.runPlenty() == .finished)
            return (lines.value.sorted(), reason.value)
        }
    }

    @Test func `A line without its end is reported before a failure`() throws {
        // A process that the child leaves holds the pipes until its input ends.
        let holder = "exec 3<&0; (read line <&3) & echo one; printf 'two, without its end'; printf three >&2; exit 3"
        var (lines, reason) = try Self.begunLines(holder, outputWait: .milliseconds(100))
        #expect(lines == ["error: three", "output: one", "output: two, without its end"])
        #expect(reason == .heldOpen)
        (lines, reason) = try Self.begunLines("printf begun; exec sleep 600", timeLimit: .milliseconds(300))
        #expect(lines == ["output: begun"])
        #expect(reason == .tookTooLong(.milliseconds(300)))
        (lines, reason) = try Self.begunLines(
            "printf begun; head -c 2000 /dev/zero >&2; exec sleep 600", limit: 100)
        #expect(lines == ["output: begun"])
        #expect(reason == .unreadable(.lineTooLong(limit: 100)))
    }

    @Test func `A child that writes a line longer than the limit is killed`() throws {
        try withLoop { loop in
            let child = try spawn("echo good; head -c 2000 /dev/zero; exec sleep 600")
            let lines = Box<[String]>([])
            let result = Box<Result<ChildCompletion.Report, ChildCompletion.Failure>?>(nil)
            let completion = ChildCompletion(
                child, limit: 100, onLine: { lines.value.append($1) }, handler: { result.value = $1 })
            add(completion, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(lines.value == ["good"])
            guard case .failure(let failure) = result.value else { throw Failure() }
            #expect(failure.reason == .unreadable(.lineTooLong(limit: 100)))
        }
    }

    @Test func `A child that writes much to both streams is not blocked`() throws {
        try withLoop { loop in
            let child = try spawn("head -c 500000 /dev/zero >&2; head -c 700000 /dev/zero")
            let report = try #require(complete(child, on: loop)).get()
            #expect(report.output.count == 700_000)
            #expect(report.error.count == 500_000)
        }
    }

    @Test func `Spawning a program that does not exist throws SpawnError`() {
        #expect(throws: Child.SpawnError(.execute, "/nothing", code: ENOENT)) {
            try Child.spawn(.path("/nothing"), output: .pipe, error: .pipe)
        }
    }

    // MARK: A child that does not

    @Test func `A child that writes more than the limit is killed, and the report has the output up to the limit`()
        throws
    {
        try withLoop { loop in
            // It ignores that nobody reads, too.
            let child = try spawn("trap '' PIPE TERM; echo why >&2; while :; do echo yes; done")
            let failure = try #require(complete(child, on: loop, limit: 100_000)?.failure)
            #expect(failure.reason == .outputTooLong(.output, limit: 100_000))
            #expect(failure.report.exit.status == .signalled(SIGKILL, dumpedCore: false))
            #expect(failure.report.output.count == 100_000)
            #expect(failure.report.outputText.hasPrefix("yes\nyes\n"))
            #expect("\(failure)".contains("100000 bytes to standard output"))
        }
    }

    @Test(arguments: [4, 5])
    func `Output as long as the limit is allowed, and one byte more is a failure`(_ limit: Int) throws {
        try withLoop { loop in
            let result = complete(try spawn("printf 12345 >&2"), on: loop, limit: limit)
            #expect((try? result?.get().errorText) == (limit == 5 ? "12345" : nil))
            if let failure = result?.failure {
                #expect(failure.reason == .outputTooLong(.error, limit: 4))
                #expect(failure.report.errorText == "1234")
            }
        }
    }

    @Test func `A completion fails when a grandchild has held the pipes open for outputWait`() throws {
        try withLoop { loop in
            let child = try spawnLeavingOne()
            let began = ContinuousClock.now
            let failure = try #require(complete(child, on: loop, outputWait: .milliseconds(30))?.failure)
            #expect(ContinuousClock.now - began >= .milliseconds(30))
            #expect(failure.reason == .heldOpen)
            #expect(failure.report.exit.status.isSuccess)
            #expect(failure.report.outputText == "early\n")
        }
    }

    @Test func `With an outputWait of zero all output that the child itself has written is read`() throws {
        try withLoop { loop in
            // More than one portion, in a pipe that holds it.
            let child = try spawn(
                "head -c 60000 /dev/zero >&2; head -c 50000 /dev/zero; exec 3<&0; (read line <&3) & exit 0",
                input: .pipe)
            _ = waitForEnd(child)
            let failure = try #require(complete(child, on: loop, outputWait: .zero)?.failure)
            #expect(failure.reason == .heldOpen)
            #expect(failure.report.output.count == 50_000)
            #expect(failure.report.error.count == 60_000)
        }
    }

    @Test func `A completion succeeds if a grandchild that holds the output ends within outputWait`() throws {
        try withLoop { loop in
            let child = try spawnLeavingOne()
            _ = waitForEnd(child)
            child.standardInput?.close()
            #expect(try #require(complete(child, on: loop, outputWait: plenty)).get().outputText == "early\nlate\n")
            let other = try spawnLeavingOne()
            // Not earlier: the two might write in the other order.
            _ = waitForEnd(other)
            loop.performLocally(after: .milliseconds(20)) { other.standardInput?.close() }
            #expect(try #require(complete(other, on: loop, outputWait: nil)).get().outputText == "early\nlate\n")
        }
    }

    @Test func `A completion reports a child that the program terminates`() throws {
        try withLoop { loop in
            let child = try spawn("trap '' TERM; echo ready; read line; read line", input: .pipe)
            loop.performLocally(after: .milliseconds(20)) { child.terminate(killAfter: .milliseconds(20), on: loop) }
            let report = try #require(complete(child, on: loop)).get()
            #expect(report.exit.status.isSuccess == false)
        }
    }

    @Test
    func `A child over its time limit is terminated with its group, and the report has all its output`()
        throws
    {
        try withLoop { loop in
            let child = try Child.spawn(
                .name("sh"), arguments: ["-c", "trap 'echo late; exit 3' TERM; echo early; sleep 600 & wait"],
                input: .null, output: .pipe, group: .new)
            #expect(rl_wait_readable(try #require(child.standardOutput?.descriptor), -1) > 0)
            let result = complete(child, on: loop, timeLimit: .milliseconds(30))
            let failure = try #require(result?.failure)
            #expect(failure.reason == .tookTooLong(.milliseconds(30)))
            #expect(failure.report.exit.status == .exited(3))
            #expect(failure.report.outputText == "early\nlate\n")
            #expect("\(failure)".contains("longer than 0.03 seconds"))
            // In time, the limit leaves nothing.
            #expect(
                try #require(complete(try spawn("exit 4"), on: loop, timeLimit: .seconds(3600))).get().exit.status
                    == .exited(4))
        }
    }

    @Test func `The time limit of a completion starts when it is first added, and is exact in virtual time`() throws {
        try ManualRunLoop.with { manual in
            let child = try spawn("trap '' TERM; echo ready; read line; read line", input: .pipe)
            #expect(rl_wait_readable(try #require(child.standardOutput?.descriptor), -1) > 0)
            let completion = ChildCompletion(child, timeLimit: .seconds(60)) { _, _ in }
            manual.advance(by: .seconds(3600))
            add(completion, to: manual.loop)
            manual.advance(by: .seconds(59))
            // Another mode does not begin anew.
            add(completion, to: manual.loop, in: "other")
            manual.advance(by: .seconds(1))
            #expect(child.exit == nil)
            manual.advance(by: .seconds(4))
            #expect(child.exit == nil)
            manual.advance(by: .seconds(1))
            #expect(waitForEnd(child) == .signalled(SIGKILL, dumpedCore: false))
            completion.invalidate()
        }
    }

    @Test func `In virtual time a completion fails exactly when outputWait has passed`() throws {
        try ManualRunLoop.with { manual in
            let child = try spawnLeavingOne()
            _ = waitForEnd(child)
            let told = Box<ChildCompletion.Failure?>(nil)
            let completion = ChildCompletion(child, outputWait: .seconds(3600)) { told.value = $1.failure }
            add(completion, to: manual.loop)
            let number = completion.description.split(separator: "descriptor ").last.flatMap {
                CInt($0.prefix { $0.isNumber })
            }
            manual.setReady(try #require(number), .readable)
            manual.loop.runTurn()
            manual.advance(by: .seconds(3599))
            #expect(told.value == nil)
            manual.advance(by: .seconds(1))
            #expect(told.value?.reason == .heldOpen)
            #expect(told.value?.report.outputText == "early\n")
            #expect(!completion.isValid)
        }
    }

    // MARK: Life

    @Test func `An invalidated completion reports nothing and does not end the child`() throws {
        try withLoop { loop in
            let child = try spawn("read line", input: .pipe)
            let completion = ChildCompletion(child) { _, _ in Issue.record("called") }
            add(completion, to: loop)
            #expect(loop.contains(completion, in: .default))
            loop.runTurn()
            completion.invalidate()
            #expect(loop.isEmpty(in: .default))
            #expect(child.exit == nil)
            child.standardInput?.close()
            #expect(waitForEnd(child) == .exited(1))
        }
    }

    @Test func `A completion removed from the loop and added again reports the child`() throws {
        try withLoop { loop in
            let child = try spawn("echo text")
            let told = Box("")
            let completion = ChildCompletion(child) { told.value = (try? $1.get().outputText) ?? "failure" }
            add(completion, to: loop)
            loop.runTurn()
            loop.remove(completion, from: .default)
            _ = waitForEnd(child)
            if completion.isValid { add(completion, to: loop, in: "other") }
            _ = loop.runPlenty("other")
            #expect(told.value == "text\n")
        }
    }

    // MARK: Tasks

    @Test func `completion(of:) returns the report to a task or throws the failure`() async throws {
        let thread = try RunLoopThread(name: "completion")
        let report = try await thread.loop.completion(of: try spawn("echo out; echo bad >&2; exit 4"))
        #expect(report.exit.status == .exited(4))
        #expect(report.outputText + report.errorText == "out\nbad\n")
        let flood = try spawn("while :; do echo yes; done")
        do {
            _ = try await thread.loop.completion(of: flood, limit: 10)
            Issue.record("no failure")
        } catch let failure as ChildCompletion.Failure {
            #expect(failure.reason == .outputTooLong(.output, limit: 10))
            #expect(failure.report.outputText == "yes\nyes\nye")
        }
        end(thread)
    }

    @Test func `completion(of:) throws when its task is cancelled or the thread ends, and leaves the child running`()
        async throws
    {
        let thread = try RunLoopThread(name: "cancelled completion")
        let loop = thread.loop
        let child = try spawn("read line", input: .pipe)
        let waiting = Task { try await loop.completion(of: child) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(child.exit == nil)
        let deserted = Task { try await loop.completion(of: child) }
        while try await loop.result(of: { "\(loop)" }).isEmpty {}
        end(thread)
        await #expect(throws: RunLoop.ThreadEndedError.self) { try await deserted.value }
        child.standardInput?.close()
        #expect(waitForEnd(child) == .exited(1))
    }

    @Test(.needsDescriptors(isFull ? 9000 : 1500))
    func `Many completions at once all report and leave no child behind`() async {
        await #expect(processExitsWith: .success) {
            raiseDescriptorLimit()
            let count = isFull ? 1000 : 100
            let thread = try RunLoopThread(name: "many completions")
            let loop = thread.loop
            try await withThrowingTaskGroup { group in
                for number in 0..<count {
                    group.addTask {
                        let child = try spawn("echo \(number); echo \(number) >&2; exit \(number % 100)")
                        let report = try await loop.completion(of: child)
                        #expect(report.outputText == "\(number)\n")
                        #expect(report.errorText == "\(number)\n")
                        #expect(report.exit.status == .exited(CInt(number % 100)))
                    }
                }
                try await group.waitForAll()
            }
            #expect(waitpid(-1, nil, WNOHANG) == -1)
            end(thread)
        }
    }
}

private func spawn(
    _ command: String, input: Child.Input = .null, error: Child.Output = .pipe
) throws -> Child {
    try Child.spawn(.name("sh"), arguments: ["-c", command], input: input, output: .pipe, error: error)
}

/// The completion did not fail as expected.
private struct Failure: Error {}

/// A child that ends and leaves one of its own, which ends with its input.
private func spawnLeavingOne() throws -> Child {
    try spawn("exec 3<&0; (read line <&3; echo late) & echo early", input: .pipe)
}

/// Runs the loop until the child is complete.
private func complete(
    _ child: Child, on loop: RunLoop, limit: Int = 1 << 20, outputWait: Duration? = .seconds(300),
    timeLimit: Duration? = nil
) -> Result<ChildCompletion.Report, ChildCompletion.Failure>? {
    let told = Box<[Result<ChildCompletion.Report, ChildCompletion.Failure>]>([])
    let completion = ChildCompletion(child, limit: limit, outputWait: outputWait, timeLimit: timeLimit) {
        completion, result in
        #expect(!completion.isValid)
        told.value.append(result)
    }
    add(completion, to: loop)
    #expect(loop.runPlenty() == .finished)
    #expect(told.value.count == 1)
    return told.value.first
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
