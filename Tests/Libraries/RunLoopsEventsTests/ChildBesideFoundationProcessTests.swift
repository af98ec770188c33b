// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

import class Foundation.Pipe
import class Foundation.Process
import struct Foundation.URL

/// Children of this library and of Foundation's `Process` in one program.
@Suite(.ownThread, .leavesNothing) struct ChildBesideFoundationProcessTests {
    @Test func `A ChildSource and a Foundation Process for one child both get its exit status`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                for code in CInt(0)..<20 {
                    let gate = Pipe()
                    let process = try start("read line; exit \(code)", gate)
                    let told = Box<ChildSource.Status?>(nil)
                    add(
                        try ChildSource(process.processIdentifier, reaps: false) { _, exit in told.value = exit.status
                        },
                        to: loop)
                    try gate.fileHandleForWriting.close()
                    #expect(loop.runPlenty() == .finished)
                    // Whoever of the two is faster.
                    #expect(told.value == .exited(code) || !kernelKeepsExits() && told.value == .unknown)
                    process.waitUntilExit()
                    #expect(process.terminationStatus == code)
                }
            }
        }
    }

    @Test func `Child and Foundation's Process used together each get the statuses of their own children`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                var processes: [Process] = []
                let told = Box<[CInt: ChildSource.Exit]>([:])
                var children: [Child] = []
                for code in CInt(0)..<40 {
                    processes.append(try start("exit \(code)"))
                    let child = try Child.spawn(.name("sh"), arguments: ["-c", "exit \(100 + code)"])
                    children.append(child)
                    add(ChildSource(child) { _, exit in told.value[exit.process] = exit }, to: loop)
                }
                #expect(loop.runPlenty() == .finished)
                for (code, (process, child)) in zip(processes, children).enumerated() {
                    process.waitUntilExit()
                    #expect(process.terminationStatus == CInt(code))
                    #expect(told.value[child.process]?.status == .exited(CInt(100 + code)))
                    #expect(told.value[child.process]?.usage != nil)
                }
                #expect(waitpid(-1, nil, WNOHANG) == -1)
            }
        }
    }
}

private func start(_ command: String, _ input: Pipe = Pipe()) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardInput = input
    try process.run()
    return process
}
