// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Children whose outputs and exit are one completion.
@Suite(.ownThread, .timeLimit(.minutes(10)), .leavesNothing) struct ChildCompletionProcessTests {
    // MARK: A child that ends

    @Test func `A completion reports output, errors and exit in one call`() throws {
        try withLoop { loop in
            let child = try spawn("echo out; echo bad >&2; echo more; exit 3")
            let result = complete(child, on: loop)
            let report = try #require(result).get()
            #expect(report.exit.status == .exited(3))
            #expect(report.exit.process == child.process)
            #expect((report.exit.usage?.mostResidentBytes ?? 0) > 0)
            #expect(report.outputText == "out\nmore\n")
            #expect(report.errorText == "bad\n")
            #expect(report == (try? result?.get()))
        }
    }

    @Test(arguments: ["exec >&- 2>&-; read line", "echo x; exec >&-; read line", "echo x >&2; exec 2>&-; read line"])
    func `A completion waits for the ends of output, errors and process, in any order`(_ command: String) throws {
        try withLoop { loop in
            let child = try spawn(command, input: .pipe)
            let input = try #require(child.standardInput)
            loop.performLocally { input.close() }
            let report = try #require(complete(child, on: loop)).get()
            #expect(report.exit.status == .exited(1))
            #expect(report.output.count + report.error.count == (command.contains("echo") ? 2 : 0))
        }
    }

    @Test func `A child without pipes, or that has ended before, completes too`() throws {
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

    @Test func `Lines of both streams are reported while the child runs, and its time limit ends it`() throws {
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

    @Test func `A line that is longer than the limit kills the child`() throws {
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

    @Test func `Much output on both streams does not hold the child up`() throws {
        try withLoop { loop in
            let child = try spawn("head -c 500000 /dev/zero >&2; head -c 700000 /dev/zero")
            let report = try #require(complete(child, on: loop)).get()
            #expect(report.output.count == 700_000)
            #expect(report.error.count == 500_000)
        }
    }

    @Test func `A child that is not there is an error of the spawn, and leaves nothing`() {
        #expect(throws: Child.SpawnError(.execute, "/nothing", code: ENOENT)) {
            try Child.spawn(.path("/nothing"), output: .pipe, error: .pipe)
        }
    }

    // MARK: A child that does not

    @Test func `A child that floods is killed at the limit, and what was read is there`() throws {
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
    func `The limit itself is allowed`(_ limit: Int) throws {
        try withLoop { loop in
            let result = complete(try spawn("printf 12345 >&2"), on: loop, limit: limit)
            #expect((try? result?.get().errorText) == (limit == 5 ? "12345" : nil))
            if let failure = result?.failure {
                #expect(failure.reason == .outputTooLong(.error, limit: 4))
                #expect(failure.report.errorText == "1234")
            }
        }
    }

    @Test func `A grandchild that keeps the pipes is waited for as long as the program says`() throws {
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

    @Test func `Without a wait, all that the child itself has written is read`() throws {
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

    @Test func `A grandchild that holds the output and ends within the wait is not a failure`() throws {
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

    @Test func `A child that never ends is terminated by the program, and completes`() throws {
        try withLoop { loop in
            let child = try spawn("trap '' TERM; echo ready; read line; read line", input: .pipe)
            loop.performLocally(after: .milliseconds(20)) { child.terminate(killAfter: .milliseconds(20), on: loop) }
            let report = try #require(complete(child, on: loop)).get()
            #expect(report.exit.status.isSuccess == false)
        }
    }

    @Test
    func `A child that takes longer than its time limit is ended with its group, and what it has written is there`()
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

    @Test func `The time begins with the first mode, and in virtual time it ends at its instant`() throws {
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

    @Test func `In virtual time the wait for output ends at its instant`() throws {
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
            manual.loop.poll()
            manual.advance(by: .seconds(3599))
            #expect(told.value == nil)
            manual.advance(by: .seconds(1))
            #expect(told.value?.reason == .heldOpen)
            #expect(told.value?.report.outputText == "early\n")
            #expect(!completion.isValid)
        }
    }

    // MARK: Life

    @Test func `An invalidated completion reports nothing and leaves the child`() throws {
        try withLoop { loop in
            let child = try spawn("read line", input: .pipe)
            let completion = ChildCompletion(child) { _, _ in Issue.record("called") }
            add(completion, to: loop)
            #expect(loop.contains(completion, in: .default))
            loop.poll()
            completion.invalidate()
            #expect(loop.isEmpty(.default))
            #expect(child.exit == nil)
            child.standardInput?.close()
            #expect(waitForEnd(child) == .exited(1))
        }
    }

    @Test func `A completion that is removed from the loop and added again continues`() throws {
        try withLoop { loop in
            let child = try spawn("echo text")
            let told = Box("")
            let completion = ChildCompletion(child) { told.value = (try? $1.get().outputText) ?? "failure" }
            add(completion, to: loop)
            loop.poll()
            loop.remove(completion, from: .default)
            _ = waitForEnd(child)
            if completion.isValid { add(completion, to: loop, in: "other") }
            _ = loop.runPlenty("other")
            #expect(told.value == "text\n")
        }
    }

    // MARK: Tasks

    @Test func `A task gets the report, or the failure`() async throws {
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

    @Test func `A task that is cancelled leaves the child, and the end of the thread is an error`() async throws {
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

    @Test(.needsDescriptors(isFull ? 9000 : 1500)) func `Many complete at once, and leave nothing`() async {
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
