// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LoopUI
internal import RunLoops

/// Executes drawings in a test's virtual time; each of its workers takes the set time for a drawing.
///
/// A drawing runs at the end of that time, on the test's thread. ``TestApplication`` sets an executor of this type in its
/// application.
@MainActor public final class VirtualDrawingExecutor: DrawingExecutor {
    /// The maximum number of drawings that are under way at a time.
    public var workers: Int { didSet { begin() } }
    /// Returns the time that the next drawing takes.
    public var duration: () -> Duration
    /// Whether no further drawing begins.
    public var isPaused = false { didSet { begin() } }
    /// The number of drawings that have ended.
    public private(set) var completed = 0
    private let loop: RunLoop
    private var waiting: ArraySlice<@Sendable () -> Void> = []
    private var busy = 0

    /// Makes an executor on the loop of the calling thread.
    ///
    /// - Parameters:
    ///   - workers: The maximum number of drawings that are under way at a time.
    ///   - duration: The time that each drawing takes.
    public init(workers: Int = 2, duration: Duration = .zero) {
        loop = .current
        self.workers = workers
        self.duration = { duration }
    }

    /// The number of drawings that wait or are under way.
    public var count: Int { waiting.count + busy }

    /// Adds a job; called on the main actor.
    public nonisolated func execute(_ job: @escaping @Sendable () -> Void) {
        MainActor.assumeIsolated {
            waiting.append(job)
            begin()
        }
    }

    private func begin() {
        while !isPaused, busy < workers, let job = waiting.popFirst() {
            busy += 1
            let timer = RunLoop.Timer(.after(duration()), label: "drawing") { [weak self] _ in self?.end(job) }
            loop.add(timer, in: .common)
        }
    }

    private func end(_ job: () -> Void) {
        job()
        busy -= 1
        completed += 1
        begin()
    }
}
