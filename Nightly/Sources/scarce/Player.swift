// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts

/// Plays one operation in this process: first with little left, then with enough.
///
/// The last line on standard output is "works", or the error that was thrown with little left. The exit code is 1 for what
/// the library must not do.
struct Player {
    let limit: Limit
    let left: Int

    func play(_ name: String) throws {
        guard let scene = Scene.all.first(where: { $0.name == name }) else { fail("there is no scene \(name)") }
        limit.prepare()
        let stage = try Stage()
        limit.set(left)
        let first = Result { try scene.play(stage) }
        let spent = processorTimeOfWaiting()
        let growth = first.isFailure ? growthOfFailures(scene, stage) : 0
        limit.lift()
        if growth > 0 { fail("further failures leave \(growth) descriptors open") }
        if spent > .milliseconds(100) { fail("the loop spins: it has used \(spent) in 200 ms") }
        do { try scene.play(stage) } catch { fail("with enough again it throws \(error)") }
        stage.server.stop()
        stage.server.join()
        unlink(stage.folder + "/trace.json")
        rmdir(stage.folder)
        switch first {
        case .success: print("works")
        case .failure(let error) where isTyped(error): print(error)
        case .failure(let error): fail("it throws \(error)")
        }
    }

    /// How many descriptors further failures leave open: what a thread keeps, it keeps once.
    private func growthOfFailures(_ scene: Scene, _ stage: Stage) -> Int {
        let before = openDescriptors
        for _ in 0..<3 {
            // What works by now keeps what it opens.
            guard Result(catching: { try scene.play(stage) }).isFailure else { return 0 }
        }
        // The server closes its ends of connections a moment later.
        for _ in 0..<5000 where openDescriptors > before { usleep(1000) }
        return max(0, openDescriptors - before)
    }

    /// Counted without a descriptor, and without memory.
    private var openDescriptors: Int {
        var count = 0
        for number in CInt(0)..<1024 where fcntl(number, F_GETFD) >= 0 { count += 1 }
        return count
    }

    /// What the process uses while the loop has nothing to do.
    private func processorTimeOfWaiting() -> Duration {
        let keeper = RunLoop.Source { _ in }
        RunLoop.main.add(keeper, in: .default)
        defer { keeper.invalidate() }
        let before = processorTime()
        RunLoop.main.run(in: .default, for: .milliseconds(200))
        return processorTime() - before
    }

    private func isTyped(_ error: any Error) -> Bool {
        switch error {
        case is RunLoop.SystemCallError, is RunLoop.PortError, is RunLoop.HangWatch.Refusal,
            is RunLoop.Inspector.StartError, is RunLoop.PerformError, is Child.SpawnError:
            true
        default: false
        }
    }

    private func fail(_ what: String) -> Never {
        print(what)
        fflush(nil)
        exit(1)
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
