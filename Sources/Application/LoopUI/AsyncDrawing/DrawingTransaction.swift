// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Has views drawn on other threads, and joins the results on the main loop.
///
/// The drawings that views of one row ask for in the same commit are a group: all are shown together, when the last of
/// them is done. The drawings begin at the end of the commit. An observer of beforeWaiting and exit, which runs after the
/// commit's observer, joins the results in the common modes, so also during a drag. The observer is in the loop while
/// there are drawings.
///
/// Corresponds to the transaction group of AsyncDisplayKit.
@MainActor final class DrawingTransaction {
    /// The order of the observer: after the commit, before idle work and the release pool.
    static let order = 2_050_000

    /// Executes the drawings.
    var executor: any DrawingExecutor = TaskDrawingExecutor()

    private let loop: RunLoop
    private let inbox: DrawingInbox
    /// The groups of this commit, by the view that they belong to.
    private var collected: [ObjectIdentifier: DrawingGroup] = [:]
    /// The groups of this commit in their order.
    private var toBegin: [DrawingGroup] = []
    /// The groups that are being drawn.
    private var open: [Int: DrawingGroup] = [:]
    private var lastNumber = 0
    private var observer: RunLoop.Observer?

    init(_ loop: RunLoop) {
        self.loop = loop
        inbox = DrawingInbox(loop)
    }

    /// Ends the transaction for good: drawings under way are cancelled.
    func invalidate() {
        for group in open.values { group.cancel() }
        (collected, toBegin, open) = ([:], [], [:])
        removeObserver()
    }

    /// Whether no drawing is under way.
    var isIdle: Bool { open.isEmpty && toBegin.isEmpty }

    /// Adds a drawing, which begins at the end of the commit.
    func add(_ job: DrawingJob, of view: View) {
        let container = view.drawingContainer
        let group = collected[ObjectIdentifier(container)] ?? makeGroup(of: container)
        group.add(job, of: view)
    }

    private func makeGroup(of container: View) -> DrawingGroup {
        lastNumber += 1
        let group = DrawingGroup(lastNumber)
        collected[ObjectIdentifier(container)] = group
        toBegin.append(group)
        return group
    }

    /// Begins the drawings that the commit has collected.
    func begin() {
        if toBegin.isEmpty { return }
        let groups = toBegin
        (toBegin, collected) = ([], [:])
        addObserver()
        for group in groups { open[group.number] = group }
        for group in groups {
            for (index, job) in group.jobs.enumerated() {
                executor.execute { [inbox, number = group.number] in
                    inbox.put(DrawingResult(group: number, index: index, cells: job.run()))
                }
            }
        }
    }

    /// Shows the drawings of the groups that are complete.
    private func join() {
        let results = inbox.takeAll()
        if results.isEmpty { return }
        for result in results {
            guard let group = open[result.group], group.put(result) else { continue }
            open[result.group] = nil
            group.show()
        }
        if open.isEmpty, toBegin.isEmpty { removeObserver() }
        // The commit of this turn is over: the next turn shows it.
        loop.wakeUp()
    }

    private func addObserver() {
        if observer != nil { return }
        let observer = RunLoop.Observer(
            [.beforeWaiting, .exit], order: Self.order, label: "asynchronous drawing"
        ) { [weak self] _, _ in self?.join() }
        loop.add(observer, in: .common)
        self.observer = observer
    }

    private func removeObserver() {
        observer?.invalidate()
        observer = nil
    }
}

/// Drawings that are shown together.
@MainActor private final class DrawingGroup {
    let number: Int
    private(set) var jobs: [DrawingJob] = []
    private var views: [WeakView] = []
    private var results: [DrawnCells?] = []
    private var missing = 0

    private struct WeakView {
        weak var view: View?
    }

    init(_ number: Int) { self.number = number }

    func add(_ job: DrawingJob, of view: View) {
        jobs.append(job)
        views.append(WeakView(view: view))
        results.append(nil)
        missing += 1
    }

    /// Takes a result.
    ///
    /// - Returns: Whether it was the last one.
    func put(_ result: DrawingResult) -> Bool {
        results[result.index] = result.cells
        missing -= 1
        return missing == 0
    }

    /// Shows each drawing in its view, if the view still wants the drawing.
    func show() {
        for (index, result) in results.enumerated() {
            guard let result, !jobs[index].context.isCancelled else { continue }
            views[index].view?.finishDrawing(result)
        }
    }

    func cancel() { for job in jobs where !job.context.isCancelled { job.context.counter.next() } }
}

/// The result of a drawing, on its way to the main loop.
struct DrawingResult: Sendable {
    let group: Int
    let index: Int
    let cells: DrawnCells?
}

/// The results of other threads that the main loop has not joined yet.
final class DrawingInbox: Sendable {
    private let results = Mutex<[DrawingResult]>([])
    private let loop: RunLoop

    init(_ loop: RunLoop) { self.loop = loop }

    /// Adds a result; the first result in an empty inbox wakes the loop.
    func put(_ result: DrawingResult) {
        let isFirst = results.withLock { results in
            results.append(result)
            return results.count == 1
        }
        if isFirst { loop.wakeUp() }
    }

    func takeAll() -> [DrawingResult] {
        results.withLock { results in
            defer { results = [] }
            return results
        }
    }
}
