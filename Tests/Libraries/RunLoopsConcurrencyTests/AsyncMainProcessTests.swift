// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsConcurrency

/// The main thread under an async main, seen in processes of their own.
@Suite(.limited) struct AsyncMainProcessTests {
    private static let everything = ["block", "last words", "queue", "task", "timer"]

    @Test(arguments: Programs.Main.allCases)
    func `All code of main runs on the main thread in the main loop, before and after each await`(main: Programs.Main) {
        let output = Programs.play("threads", main)
        #expect(
            output.lines == [
                "begins", "after a sleep", "after a yield", "after a detached task", "after an actor",
                "after the main queue", "after a timer", "source", "current is main: true, in kCFRunLoopDefaultMode",
                "at exit",
            ])
        #expect(output.exitStatus == 0)
    }

    @Test(arguments: Programs.Main.allCases)
    func `A main actor task that prefers the loop's executor starts no thread`(main: Programs.Main) {
        #expect(Programs.play("preference", main).lines == ["0 threads more", "at exit"])
    }

    @Test(arguments: Programs.Main.allCases, [("return", 0), ("exit", 3), ("exit elsewhere", 4), ("error", 1)])
    func `All queued work runs before the program ends`(main: Programs.Main, end: (scene: String, status: CInt)) {
        // That is the next test's.
        if end.scene == "error", main.isAsync { return }
        let output = Programs.play(end.scene, main)
        #expect(output.lines.dropLast().sorted() == Self.everything.map { $0[...] })
        #expect(output.lines.last == "at exit")
        #expect(output.exitStatus == end.status)
    }

    @Test(arguments: Programs.Main.allCases)
    func `An error thrown by main is printed and ends the program with a failure status`(main: Programs.Main) {
        let output = Programs.play("error", main, withErrors: true)
        for words in Self.everything { #expect(output.lines.contains(words[...])) }
        #expect(output.text.contains(main.isAsync ? "Error raised at top level" : "Error: Refusal()"))
        #expect(output.text.contains("Refusal"))
        #expect(output.exitStatus != 0)
    }

    @Test func `The program ends after an async main that never suspends`() {
        let output = Programs.play("at once")
        #expect(output.lines == ["never suspended", "at exit"])
        #expect(output.exitStatus == 0)
    }

    @Test func `Stopping the main loop does not end the program`() {
        #expect(Programs.play("stop").lines == ["still there", "at exit"])
    }

    @Test func `A run nested in a callout runs main actor jobs`() {
        #expect(
            Programs.play("nested").lines == [
                "task in the nested run", "nested: stopped", "after the nested run", "at exit",
            ])
    }

    @Test func `Calling adoptMain traps if main has left the main thread`() {
        let output = Programs.play("late", withErrors: true)
        #expect(output.text.contains("not on the main thread: make it the first line of main"))
        #expect(output.exitStatus != 0)
    }

    @Test(arguments: Programs.Main.allCases)
    func `Callouts on the main thread may assume the main actor and the main queue`(main: Programs.Main) {
        let output = Programs.play("isolation", main, withErrors: true)
        #expect(
            output.lines == [
                "job", "queue", "queue, waited for", "timer", "block", "from elsewhere: true", "at exit",
            ])
        #expect(output.exitStatus == 0)
    }

    @Test(arguments: Programs.Main.allCases)
    func `The main actor uses the loop's executor only if the program selects it`(main: Programs.Main) {
        let output = Programs.play("executor", main)
        let order = main.isOnLoop ? ["high", "background"] : ["background", "high"]
        #expect(
            output.lines == ["the loop's own: \(main.isOnLoop)"] + order.map { $0[...] } + [
                "the timer fired in a flood of jobs", "bound: true", "at exit",
            ])
    }

    @Test(arguments: Programs.Main.allCases)
    func `A run nested in a main actor job runs no other main actor job`(main: Programs.Main) {
        let output = Programs.play("nested in a job", main)
        // The main queue is served there where the job is not on it.
        let expected =
            main.isOnLoop
            ? ["queue", "nested: stopped", "task", "at exit"] : ["nested: stopped", "task", "queue", "at exit"]
        #expect(output.lines == expected.map { $0[...] })
    }

    @Test func `Blocks queued on the main queue still run after the main actor moves to the loop`() {
        let output = Programs.play(program: "RunLoopsSynchronousMainPrograms", ["late loop", "return"])
        #expect(output.lines.contains("put in before"))
        for words in Self.everything { #expect(output.lines.contains(words[...])) }
        #expect(output.exitStatus == 0)
    }

    @Test(arguments: ["forgotten", "forgotten until later"])
    func `A program whose main does not call adoptMain prints one warning and ends normally`(scene: String) {
        let output = Programs.play(scene, withErrors: true)
        #expect(output.text.contains("nobody runs the loop any more"))
        #expect(output.text.contains("make RunLoop.adoptMain() of RunLoopsConcurrency its first line"))
        #expect(output.lines.count { $0.contains("nobody runs the loop") } == 1)
        #expect(output.lines.last == "the end of the ticks")
        #expect(output.exitStatus == 0)
    }

    @Test func `runMain traps if the main loop cannot serve the main actor's executor`() {
        let output = Programs.play("executor is taken", withErrors: true)
        #expect(output.text.contains("the main actor's executor is another library's"))
        #expect(output.text.contains("RunLoop.runMain(mainExecutor: .runLoop)"))
        #expect(output.exitStatus != 0)
    }

    @Test func `foreignMainExecutor returns nil for this toolchain's executor and the type name of any other executor`()
    {
        #expect(RunLoop.foreignMainExecutor(MainActor.sharedUnownedExecutor) == nil)
        let other = Other()
        #expect(RunLoop.foreignMainExecutor(other.asUnownedSerialExecutor()) == "Other")
        withExtendedLifetime(other) {}
    }

    private final class Other: SerialExecutor {
        func enqueue(_ job: consuming ExecutorJob) {}
    }

    @Test func `If another library has set the drain hook, the hook is kept and main traps`() {
        let output = Programs.play("hook is taken", withErrors: true)
        #expect(output.text.contains("another library has set swift_task_asyncMainDrainQueue_hook already"))
        #expect(output.text.contains("Use a synchronous main with RunLoop.runMain instead"))
        #expect(output.exitStatus != 0)
        let taken = Programs.play(program: "RunLoopsSynchronousMainPrograms", ["loop, taken", ""], withErrors: true)
        #expect(taken.text.contains("another library has replaced it already"))
        #expect(taken.text.contains("Leave the main actor on the main queue"))
        #expect(taken.exitStatus != 0)
    }
}
