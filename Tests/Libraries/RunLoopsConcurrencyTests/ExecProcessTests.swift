// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// What a program that is started by `exec` inherits.
@Suite(.limited) struct ExecProcessTests {
    @Test func `No descriptor of loops, sources, ports and tools is inherited through exec`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let before = inherited()
            try TestThread.run {
                let stage = try PoorProcess(limit: plenty)
                let kept = try openEverything(RunLoop.current, stage)
                let all = countOpenDescriptors()
                RunLoop.current.run(in: .default, for: .milliseconds(20))
                #expect(all - before.count > 15, "little was opened")
                #expect(inherited().subtracting(before) == [])
                withExtendedLifetime(kept) {}
                RunLoop.Inspector.stop()
                stage.strike()
            }
        }
    }
}

/// The descriptors that `exec` would leave open.
private func inherited() -> Set<CInt> {
    Set(
        (0..<1024).filter { number in
            let flags = fcntl(number, F_GETFD)
            return flags >= 0 && flags & FD_CLOEXEC == 0
        })
}

/// Opens whatever takes a descriptor, and returns what keeps it open.
private func openEverything(_ loop: RunLoop, _ stage: PoorProcess) throws -> [Any] {
    for base in RunLoop.ClockID.allCases {
        loop.add(RunLoop.Timer(.after(.seconds(3600), clock: base)) { _ in }, in: .default)
    }
    let ready = RunLoop.DescriptorSource(stage.pipe.first) { _, _ in }
    try loop.add(ready, in: .default)
    let signals = try SignalSource(SIGUSR1) { _, _ in }
    try loop.add(signals, in: .default)
    let child = try ChildSource(stage.child, reaps: false) { _, _ in }
    try loop.add(child, in: .default)
    let files = try FileWatch([stage.folder]) { _, _ in }
    try loop.add(files, in: .default)
    let accepted = Box<[RunLoop.Socket]>([])
    let listener = try SocketListener(on: .loopback()) { _, event in
        if case .accepted(let socket) = event { accepted.value.append(socket) }
    }
    try loop.add(listener, in: .default)
    let connector = try SocketConnector(to: listener.address) { _, _ in }
    try loop.add(connector, in: .default)
    let streams = try RunLoop.Socket.pair()
    let port = RunLoop.MessagePort { _ in nil }
    try loop.add(port, in: .default)
    try port.publish(as: "own", in: stage.directory)
    let sender = try stage.sender()
    _ = try sender.request(RunLoop.MessagePort.Message(), within: plenty)
    try sender.send(
        RunLoop.MessagePort.Message(descriptors: [
            RunLoop.MessagePort.Descriptor(duplicating: stage.pipe.second)
        ]))
    let thread = try RunLoopThread(name: "resident")
    let watch = try RunLoop.HangWatch { _ in }
    try watch.add(loop)
    try RunLoop.Inspector.start()
    return [
        ready, signals, child, files, accepted, listener, connector, streams, port, sender, thread, watch,
        try loop.pollDescriptor, RunLoop.main,
    ]
}
