// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CHostScenes
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// A host written in C against `RunLoopsHost.h`.
@Suite("A host in C", .ownThread) struct HostTests {
    /// A scene of C's, which returns a sentence about what was wrong.
    struct Scene: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let play: @Sendable () -> UnsafePointer<CChar>?

        init(_ name: String, _ play: @escaping @Sendable () -> UnsafePointer<CChar>?) {
            testDescription = name
            self.play = play
        }
    }

    static let scenes = [
        Scene("posts of another thread") { scene_posts_of_another_thread() },
        Scene("a post of the host's callback") { scene_post_of_a_callback() },
        Scene("a wake-up") { scene_wake_up() },
        Scene("a stop in a callout, and between two runs") { scene_stop() },
        Scene("modes by name") { scene_modes() },
        Scene("the end of a thread") { scene_end_of_a_thread() },
        Scene("frames without a descriptor") { scene_frames() },
        Scene("one pointer for each loop") { scene_identity() },
    ]

    @Test(arguments: scenes) func `A host in C gets what RunLoopsHost.h says`(scene: Scene) {
        #expect(play(scene.play) == nil)
    }

    @Test func `A timer, a descriptor source and an observer of Swift's are served by a host in C`() throws {
        let result = try TestThread.run { () throws -> String? in
            let isDone = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
            isDone.pointee = 0
            defer { isDone.deallocate() }
            var ends: [CInt] = [-1, -1]
            precondition(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            let output = ends[1]
            let loop = RunLoop.current
            var isDrawn = false
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in isDrawn = true }, in: .default)
            let source = RunLoop.DescriptorSource(ends[0]) { source, _ in
                source.invalidate()
                isDone.pointee = 1
            }
            try loop.add(source, in: .default)
            // Repeats, because its first date may come before the host first waits, which the observer is called for.
            let timer = RunLoop.Timer(.every(.milliseconds(5))) { timer in
                guard isDrawn else { return }
                timer.invalidate()
                write(output, "a", 1)
            }
            loop.add(timer, in: .default)
            return scene_run_until(isDone).map { String(cString: $0) }
        }
        #expect(result == nil)
    }

    /// Plays a scene on a new thread to the thread's end.
    private func play(_ scene: @escaping @Sendable () -> UnsafePointer<CChar>?) -> String? {
        TestThread.run { scene().map { String(cString: $0) } }
    }
}

/// Calls of `RunLoopsHost.h` that are refused.
@Suite("A host in C that breaks a rule", .ownThread) struct HostMisuseTests {
    // One process each, because each trap ends one.

    @Test func `A call of another thread than the loop's traps and names both threads`() async {
        let text = "A run loop can only be run by its own thread"
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(0) }
        expectText(result, text)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(1) }
        expectText(result, text)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(2) }
        expectText(result, text)
    }

    @Test func `runloops_prepare_to_poll traps for a loop that is not a guest`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(3) }
        expectText(result, "Ask for pollDescriptor before the host waits: without it there is nothing to prepare.")
    }

    @Test func `runloops_run_ready traps for an unknown flag, for common modes and for a mode that is not UTF-8`() async
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(4) }
        expectText(result, "runloops_run_ready was called with the flags 4: pass 0 or RUNLOOPS_HOST_SERVES_MAIN_QUEUE.")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(5) }
        expectText(result, "Common is a mark on modes, not a mode")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(6) }
        expectText(result, "runloops_run_ready was called with the name of a mode that is not UTF-8")
    }

    @Test func `runloops_perform traps for NULL as the function`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(7) }
        expectText(result, "to wake the loop, call runloops_wake_up.")
    }

    @Test func `Each function traps for NULL as the loop, and names itself`() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(8) }
        expectText(result, "runloops_poll_descriptor was called with NULL: pass runloops_main() or runloops_current().")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(9) }
        expectText(result, "runloops_prepare_to_poll was called with NULL")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(10) }
        expectText(result, "runloops_run_ready was called with NULL")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(11) }
        expectText(result, "runloops_wake_up was called with NULL")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(12) }
        expectText(result, "runloops_stop was called with NULL")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(13) }
        expectText(result, "runloops_perform was called with NULL")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(14) }
        expectText(result, "runloops_retain was called with NULL")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { scene_misuse(15) }
        expectText(result, "runloops_release was called with NULL")
    }

    @Test func `runloops_poll_descriptor returns -EMFILE without a free descriptor, and a descriptor when asked again`()
        async
    {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                _ = RunLoop.current
                // With each number of free descriptors another call is the one that is refused.
                var left = 0
                while true {
                    let scarcity = Scarcity(left: left)
                    let result = scene_poll_descriptor()
                    scarcity.end()
                    if result >= 0 { break }
                    precondition(result == -EMFILE, "\(result)")
                    left += 1
                }
                precondition(left >= 4, "\(left)")
                precondition(scene_poll_descriptor() >= 0)
            }
        }
    }
}
