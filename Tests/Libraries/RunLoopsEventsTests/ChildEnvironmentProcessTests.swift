// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

/// Variables of the environment, each test in a process whose variables are its own.
@Suite(.ownThread, .leavesNothing) struct ChildEnvironmentProcessTests {
    @Test func `A child's environment is inherited, updated or replaced`() async {
        await #expect(processExitsWith: .success) {
            setVariable("RUNLOOPS_KEPT", "kept=1")
            setVariable("RUNLOOPS_GONE", "gone")
            let print = ["-c", "echo $RUNLOOPS_KEPT,$RUNLOOPS_GONE,$RUNLOOPS_NEW"]
            #expect(said(by: .path("/bin/sh"), print, .inherited) == "kept=1,gone,\n")
            let changes = Child.Environment.updating(["RUNLOOPS_GONE": nil, "RUNLOOPS_NEW": "new"])
            #expect(said(by: .path("/bin/sh"), print, changes) == "kept=1,,new\n")
            #expect(said(by: .path("/usr/bin/env"), [], .only(["A": "b=c"])) == "A=b=c\n")
        }
    }

    @Test func `Environment variables are matched by their bytes, not by canonical equivalence`() async {
        await #expect(processExitsWith: .success) {
            // An é in one scalar and in two.
            setVariable("RUNLOOPS_\u{E9}", "one")
            setVariable("RUNLOOPS_e\u{301}", "two")
            let text = said(by: .path("/usr/bin/env"), [], .updating(["RUNLOOPS_\u{E9}": nil]))
            let names = text.split(separator: "\n").filter { $0.hasPrefix("RUNLOOPS_") }.map { Array($0.utf8) }
            #expect(names.contains(Array("RUNLOOPS_e\u{301}=two".utf8)))
            #expect(!names.contains(Array("RUNLOOPS_\u{E9}=one".utf8)))
        }
    }

    @Test func `ProcessEnvironment reads each variable, of any length, and the first of a name`() async {
        await #expect(processExitsWith: .success) {
            let long = String(repeating: "x", count: 10_000)
            setVariable("RUNLOOPS_LONG", long)
            setVariable("RUNLOOPS_EMPTY", "")
            setVariable("RUNLOOPS_BYTES", bytes: [CChar(bitPattern: 0xFF), 0])
            #expect(ProcessEnvironment.value(of: "RUNLOOPS_LONG")?.decoded == long)
            #expect(ProcessEnvironment.value(of: "RUNLOOPS_EMPTY")?.bytes == [])
            #expect(ProcessEnvironment.value(of: "RUNLOOPS_BYTES")?.bytes == [0xFF])
            #expect(ProcessEnvironment.value(of: "RUNLOOPS_NONE") == nil)
            #expect(ProcessEnvironment.value(of: "RUNLOOPS") == nil)
            var count = 0
            while environ[count] != nil { count += 1 }
            #expect(ProcessEnvironment.variables() == (0..<count).map { SystemText(cString: environ[$0]!) })
            clearVariables()
            #expect(ProcessEnvironment.variables() == [])
            #expect(said(by: .path("/usr/bin/env"), [], .inherited) == "")
            #expect(said(by: .path("/usr/bin/env"), [], .updating(["A": "b"])) == "A=b\n")
        }
    }

    @Test func `An environment that cannot be read is EFAULT for an inherited spawn and empty for other readers`() async
    {
        await #expect(processExitsWith: .success) {
            // No more than that happens meanwhile: others use getenv.
            let (inherited, value, updated) = EnvironmentArray.withoutAccess {
                (
                    Result { () throws(Child.SpawnError) in try Child.spawn(.path("/bin/true")) },
                    ProcessEnvironment.value(of: "PATH"),
                    said(by: .path("/bin/echo"), ["a"], .updating(["A": "b"]))
                )
            }
            #expect(throws: Child.SpawnError(.execute, "/bin/true", code: EFAULT)) { try inherited.get() }
            #expect(value == nil)
            #expect(updated == "a\n")
        }
    }

    @Test func `Variables are complete while another thread moves the array of variables`() async {
        await #expect(processExitsWith: .success) {
            setVariable("RUNLOOPS_KEPT", "kept")
            let isDone = Locked(false)
            let mover = TestThread {
                while !isDone.withLock({ $0 }) {
                    EnvironmentArray.move()
                    usleep(50)
                }
            }
            let print = ["-c", "echo $RUNLOOPS_KEPT$A"]
            for _ in 0..<50 {
                for _ in 0..<20 { #expect(ProcessEnvironment.value(of: "RUNLOOPS_KEPT")?.decoded == "kept") }
                #expect(said(by: .name("sh"), print, .inherited) == "kept\n")
                #expect(said(by: .name("sh"), print, .updating(["A": "b"])) == "keptb\n")
            }
            isDone.withLock { $0 = true }
            mover.join()
        }
    }
}

/// The text that a program writes to its standard output, or the error of its start.
private func said(by executable: Child.Executable, _ arguments: [String], _ environment: Child.Environment) -> String {
    let pipe = DescriptorPair.pipe()
    do {
        let child = try Child.spawn(
            executable, arguments: arguments, environment: environment, output: .descriptor(pipe.second))
        pipe.closeSecond()
        _ = try TestThread.run { () throws(RunLoop.SystemCallError) in try child.waitForExit() }
    } catch {
        return "\(error)"
    }
    // All that it has written fits into the pipe.
    var text = ""
    while case let portion = readText(pipe.first), !portion.isEmpty { text += portion }
    return text
}
