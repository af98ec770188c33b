import Glibc
import RunLoops
import RunLoopsAwaiting
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Signals, file changes, messages and resident threads, awaited.
@Suite(.timeLimit(.minutes(10))) struct EventSourceSequenceTests {
    @Test func `Signals come as a sequence, and what was there before is restored`() async throws {
        let thread = try RunLoopThread(name: "signals")
        let events = try thread.loop.signals(of: SIGURG)
        kill(getpid(), SIGURG)
        var seen = 0
        for await delivery in events {
            #expect(delivery.signal == SIGURG)
            seen += 1
            if seen == 3 { break }
            kill(getpid(), SIGURG)
        }
        events.cancel()
        var action = sigaction()
        // The cancel is done when it returns.
        sigaction(SIGURG, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil)
        end(thread)
    }

    @Test func `Changes of a directory come as a sequence and all of them are kept`() async throws {
        var template = Array("/tmp/run-loops-XXXXXX".utf8CString)
        let directory = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
        defer { rmdir(directory) }
        let thread = try RunLoopThread(name: "changes")
        let events = try thread.loop.changes(at: [directory], for: .created)
        for index in 0..<10 { close(open("\(directory)/\(index)", O_CREAT | O_WRONLY, 0o600)) }
        defer { for index in 0..<10 { unlink("\(directory)/\(index)") } }
        var made = 0
        for await batch in events {
            made += batch.count
            if made == 10 { break }
        }
        #expect(made == 10)
        end(thread)
    }

    @Test func `Messages come as a sequence in order and it ends with the port`() async throws {
        let thread = try RunLoopThread(name: "messages")
        let (port, messages) = try thread.loop.messages()
        let sender = port.sender
        for id in 0..<100 { try sender.send(Message(id: Int32(id), bytes: [])) }
        var seen: [Int32] = []
        for await message in messages {
            seen.append(message.id)
            if seen.count == 100 { port.invalidate() }
        }
        #expect(seen == Array(0..<100))
        end(thread)
    }

    @Test func `A resident thread performs what a task waits for`() async throws {
        struct Refusal: Error {}
        let thread = try RunLoopThread(name: "performs")
        let number = thread.identity.number
        #expect(try await thread.perform { SystemCalls.threadID } == number)
        await #expect(throws: Refusal.self) { try await thread.perform { throw Refusal() } }
        end(thread)
        await #expect(throws: RunLoopThreadEnded.self) { try await thread.perform { 1 } }
    }

    @Test func `A cancelled task does not wait for a thread that is busy`() async throws {
        let thread = try RunLoopThread(name: "busy")
        let gate = Locked(false)
        thread.post { while !gate.copy { sched_yield() } }
        let task = Task { try await thread.perform { 1 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.withLock { $0 = true }
        end(thread)
    }
}

/// For async tests, which may not wait for a thread themselves.
private func end(_ thread: RunLoopThread) {
    thread.stop()
    thread.join()
}
