// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// Specification 6: the main queue and the main actor, on the true main thread.
///
/// The test runner's main thread belongs to the runner, so a program is made and run: its lines are what is expected.
@Suite(
    .ownThread,
    .enabled(if: Compiler() != nil, "there is no swiftc in PATH, or no modules beside the tests"))
struct MainQueueTests {
    private static let program = """
        import Dispatch
        import Glibc
        import RunLoops

        func say(_ text: String) {
            var link = [UInt8](repeating: 0, count: 64)
            let count = link.withUnsafeMutableBytes { readlink("/proc/thread-self", $0.baseAddress!, 64) }
            let isMain = String(decoding: link.prefix(count), as: UTF8.self) == "\\(getpid())/task/\\(getpid())"
            print(isMain ? text : "NOT ON MAIN: \\(text)")
        }

        var title = "main actor's"
        var queued = 0
        var fired = 0

        switch CommandLine.arguments[1] {
        case "serves":
            DispatchQueue.main.async { say("queue") }
            Task { @MainActor in say("actor"); try? await Task.sleep(for: .milliseconds(5)); say("actor again"); RunLoop.main.stop() }
            print(RunLoop.main.run(in: .default, for: .seconds(300)))
        case "modes":
            print(RunLoop.main.run(in: "private", for: .milliseconds(5)))
            print(RunLoop.main.run(in: .default, for: .milliseconds(5)))
            let keeper = RunLoop.Source { _ in }
            RunLoop.main.add(keeper, in: "private")
            DispatchQueue.main.async { say("queue in \\(RunLoop.main.currentMode!)") }
            print(RunLoop.main.run(in: "private", for: .milliseconds(20)))
            try RunLoop.main.addCommonMode("marked")
            RunLoop.main.add(keeper, in: "marked")
            print(RunLoop.main.run(in: "marked", for: .seconds(300), returnsAfterSource: true))
        case "marked alone":
            try RunLoop.main.addCommonMode("marked")
            print(RunLoop.main.run(in: "marked", for: .seconds(300)))
            RunLoop.main.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: "marked")
            DispatchQueue.main.async { say("queue in \\(RunLoop.main.currentMode!)"); RunLoop.main.stop() }
            print(RunLoop.main.run(in: "marked", for: .seconds(300)))
        case "nested":
            let keeper = RunLoop.Source { _ in }
            RunLoop.main.add(keeper, in: .default)
            DispatchQueue.main.async {
                DispatchQueue.main.async { say("second"); RunLoop.main.stop() }
                print("inside", RunLoop.main.run(in: .default, for: .milliseconds(20)))
                say("first ends")
            }
            print(RunLoop.main.run(in: .default, for: .seconds(300)))
        case "idle":
            DispatchQueue.main.async { say("queue") }
            let turns = RunLoop.Observer(.afterWaiting, label: "turns") { _, _ in say("woke") }
            print(RunLoop.main.run(in: .default, for: .seconds(300), returnsAfterSource: true))
            RunLoop.main.add(turns, in: .default)
            var before = rusage(); getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
            print(RunLoop.main.run(in: .default, for: .milliseconds(100)))
            var after = rusage(); getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &after)
            let busy = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1_000_000 + after.ru_utime.tv_usec - before.ru_utime.tv_usec
            print(busy < 50_000 ? "slept" : "spun for \\(busy) us")
        case "marked within":
            // The run began before the mode was marked, and does not do the queue's work; the one nested in it does.
            let mode: RunLoop.Mode = "marked within"
            RunLoop.main.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: mode)
            RunLoop.main.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in
                do { try RunLoop.main.addCommonMode(mode) } catch { print(error) }
                print("nested", RunLoop.main.runTurn(in: mode))
                DispatchQueue.main.async { print("queue") }
            }, in: mode)
            var before = rusage(); getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
            print(RunLoop.main.run(in: mode, for: .milliseconds(100)))
            var after = rusage(); getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &after)
            let busy = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1_000_000 + after.ru_utime.tv_usec - before.ru_utime.tv_usec
            print(busy < 50_000 ? "slept" : "spun for \\(busy) us")
            print(RunLoop.main.run(in: mode, for: .seconds(300), returnsAfterSource: true))
        case "actor items":
            let source = RunLoop.Source.mainActor { _ in say("source \\(title)"); RunLoop.main.stop() }
            RunLoop.main.add(source, in: .default)
            RunLoop.main.add(RunLoop.Timer.mainActor(.after(.milliseconds(1))) { _ in
                say("timer \\(title)"); title = "state"
                DispatchQueue.global().async {
                    RunLoop.performOnMainActor { say("block \\(title)"); source.signal(); RunLoop.main.wakeUp() }
                }
            }, in: .default)
            print(RunLoop.main.run(in: .default, for: .seconds(300)))
        case "fair":
            @MainActor func again() { queued += 1; DispatchQueue.main.async { again() } }
            again()
            RunLoop.main.add(RunLoop.Timer(.every(.milliseconds(1))) { _ in fired += 1; if fired == 20 { RunLoop.main.stop() } }, in: .default)
            print(RunLoop.main.run(in: .default, for: .seconds(300)), fired, queued > 20)
        case "guest":
            func isReadable(_ milliseconds: CInt) throws -> Bool {
                var one = pollfd(fd: try RunLoop.main.pollDescriptor, events: Int16(POLLIN), revents: 0)
                return poll(&one, 1, milliseconds) > 0
            }
            print("fresh", try isReadable(20))
            DispatchQueue.main.async { say("queue") }
            print("queued", try isReadable(20_000))
            RunLoop.main.runReady()
            print("served", try isReadable(20))
        case "guest of a host with the queue":
            func isReadable() throws -> Bool {
                var one = pollfd(fd: try RunLoop.main.pollDescriptor, events: Int16(POLLIN), revents: 0)
                return poll(&one, 1, 0) > 0
            }
            _ = try isReadable()
            RunLoop.main.runReady(servingMainQueue: false)
            DispatchQueue.main.async { say("queue in the loop's own run") }
            print("before a run", try isReadable())
            print(RunLoop.main.run(in: .default, for: .seconds(300), returnsAfterSource: true))
            DispatchQueue.main.async {
                DispatchQueue.main.async { say("the next") }
                print("in a turn that does not sleep", try! isReadable())
            }
            print("after a run", try isReadable())
            print(RunLoop.main.runTurn(in: .default))
            print("after a turn", try isReadable())
            print(RunLoop.main.runTurn(in: .default))
        case "scarce":
            _ = RunLoop.main
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var taken: [CInt] = []
            while case let number = open("/dev/null", O_RDONLY), number >= 0 { taken.append(number) }
            do { try RunLoop.main.addCommonMode("marked") } catch { print("refused", error.code == EMFILE) }
            print(RunLoop.main.commonModes.count)
            DispatchQueue.main.async { say("queue") }
            print(RunLoop.main.run(in: .default, for: .seconds(300), returnsAfterSource: true))
            // The leak sanitizer needs some at the end of the program.
            for number in taken { close(number) }
        case "identity":
            print(RunLoop.current === RunLoop.main)
            DispatchQueue.global().sync { }
            DispatchQueue.global().async {
                print(RunLoop.current === RunLoop.main)
                // Inside the run: a stop that comes before it is forgotten.
                RunLoop.main.perform { RunLoop.main.stop() }
            }
            RunLoop.main.run()
        default:
            print("what?")
        }
        """

    @Test func `Where descriptors run out, marking a mode of the main loop throws and a run goes on`() throws {
        let compiler = try #require(Compiler())
        let output = try #require(compiler.runProgram(Self.program, ["scarce"]).first)
        #expect(output.text == "refused true\n1\nqueue\nhandledSource\n")
        #expect(output.status == 0)
    }

    @Test func `The main loop runs the main queue's work`() throws {
        let compiler = try #require(Compiler())
        let expected: [(name: String, text: String)] = [
            ("serves", "queue\nactor\nactor again\nstopped\n"),
            // A private mode without items is empty, a common one waits for the queue; only the common one serves it.
            ("modes", "finished\ntimedOut\ntimedOut\nqueue in marked\nhandledSource\n"),
            // Marking a mode does not make it, as in CFRunLoop.
            ("marked alone", "finished\nqueue in marked\nstopped\n"),
            ("nested", "inside timedOut\nfirst ends\nsecond\nstopped\n"),
            ("idle", "queue\nhandledSource\nwoke\ntimedOut\nslept\n"),
            ("marked within", "nested timedOut\ntimedOut\nslept\nqueue\nhandledSource\n"),
            ("actor items", "timer main actor's\nblock state\nsource state\nstopped\n"),
            ("fair", "stopped 20 true\n"),
            ("guest", "fresh false\nqueued true\nqueue\nserved false\n"),
            (
                "guest of a host with the queue",
                """
                before a run false
                queue in the loop's own run
                handledSource
                after a run false
                in a turn that does not sleep false
                timedOut
                after a turn false
                the next
                timedOut

                """
            ),
            ("identity", "true\nfalse\n"),
        ]
        let outputs = compiler.runProgram(Self.program, expected.map { "'\($0.name)'" })
        try #require(outputs.count == expected.count, "\(outputs.first?.text ?? "")")
        for (output, expected) in zip(outputs, expected) {
            #expect(output.text == expected.text, "\(expected.name)")
            #expect(output.status == 0, "\(expected.name)")
        }
    }
}
