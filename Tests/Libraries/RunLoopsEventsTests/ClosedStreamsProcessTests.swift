// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Programs that were started with closed standard streams: `program <&- >&- 2>&-`.
@Suite(.limited) struct ClosedStreamsProcessTests {
    @Test func `No descriptor of a loop, a source, a port or a child has the number of a closed standard stream`() async
    {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let directory = TemporaryDirectory()
            closeStreams()
            try TestThread.run { () throws in
                let loop = RunLoop.current
                loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in loop.stop() }, in: .default)
                _ = loop.runPlenty()
                loop.add(RunLoop.Timer(.after(.zero, clock: .boottime)) { _ in loop.stop() }, in: .default)
                _ = loop.runPlenty()
                expectClosedStreams("a loop")
                let watch = try FileWatch([directory.path]) { _, _ in }
                try loop.add(watch, in: .default)
                expectClosedStreams("a file watch")
                let signals = try SignalSource(SIGUSR2) { _, _ in }
                try loop.add(signals, in: .default)
                expectClosedStreams("a signal source")
                let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
                let listener = try SocketListener(on: address) { _, event in
                    if case .accepted = event { loop.stop() }
                }
                try loop.add(listener, in: .default)
                let connector = try SocketConnector(to: address) { _, _ in }
                try loop.add(connector, in: .default)
                #expect(loop.runPlenty() == .stopped)
                // Lookups by the C library, which may use the numbers until it returns, are not among these.
                let host = RunLoop.HostAddress.host("127.0.0.1", 1)
                try loop.add(try HostConnector(to: host) { _, _ in loop.stop() }, in: .default)
                #expect(loop.runPlenty() == .stopped)
                expectClosedStreams("sockets")
                let port = RunLoop.MessagePort { _ in nil }
                try loop.add(port, in: .default)
                try port.publish(as: "port", in: .init(making: directory.path("ports")))
                expectClosedStreams("a port")
                let child = try Child.spawn(.name("cat"), input: .pipe, output: .pipe, error: .pipe)
                expectClosedStreams("a child")
                let exit = ChildSource(child) { _, _ in loop.stop() }
                try loop.add(exit, in: .default)
                child.standardInput?.close()
                #expect(loop.runPlenty() == .stopped)
                #expect(child.exit?.status == .exited(0))
                for item in [watch, signals, listener, connector, exit] { item.invalidate() }
                port.invalidate()
            }
            expectClosedStreams("the end of the loop")
        }
    }

    @Test func `The main queue's descriptor does not have the number of a closed standard stream`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            closeStreams()
            #expect(rl_main_queue_descriptor() > 2)
            expectClosedStreams("the main queue")
        }
    }

    @Test func `A child of a parent without standard streams ends when its pipe is closed`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            closeStreams()
            // The writing end is not inherited: the child would never see the end of its input.
            let reader = try Child.spawn(.name("cat"), input: .pipe, output: .null, error: .null)
            reader.standardInput?.close()
            #expect(waitForEnd(reader) == .exited(0))
            // The reading end is not inherited: the child would never see that nothing reads.
            let writer = try Child.spawn(.name("yes"), output: .pipe)
            writer.standardOutput?.close()
            #expect([.exited(1), .signalled(SIGPIPE, dumpedCore: false)].contains(waitForEnd(writer)))
            // A closed stream is closed in the child too, and no descriptor takes its place.
            let list = try Child.spawn(
                .name("sh"), arguments: ["-c", "[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/2 ]"], output: .pipe)
            #expect(waitForEnd(list) == .exited(0))
        }
    }

    @Test func `A child can get a descriptor with the highest number that the limit allows`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let (pipe, other) = (DescriptorPair.pipe(), DescriptorPair.pipe())
            let child = try Child.spawn(
                .name("bash"), arguments: ["-c", "echo highest >&63; echo lower >&62; [ ! -e /proc/$$/fd/3 ]"],
                descriptors: [63: pipe.second, 62: other.second])
            #expect(waitForEnd(child) == .exited(0))
            #expect(readText(pipe.first) == "highest\n")
            #expect(readText(other.first) == "lower\n")
        }
    }
}

private func closeStreams() { for number in STDIN_FILENO...STDERR_FILENO { close(number) } }

private func expectClosedStreams(_ maker: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for number in STDIN_FILENO...STDERR_FILENO {
        #expect(fcntl(number, F_GETFD) == -1, "\(number) after \(maker)", sourceLocation: sourceLocation)
    }
}
