// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import LoopUI
internal import RunLoops

/// Repeats the key that is held, at the compositor's rate: a Wayland compositor reports only its beginning and its end.
///
/// The compositor is asked before each repeat. Its answer comes behind an end of the key that the program has not read
/// yet, so a busy program repeats no key that was released meanwhile, and a stopped compositor has no key repeated.
@MainActor final class KeyRepeats {
    private let connection: CompositorConnection
    private let queue: InputQueue
    /// Called with the code of a key that repeats.
    var handler: (UInt32) -> Void = { _ in }
    private var delay = Duration.milliseconds(400)
    /// The time between two repeats; nil if keys do not repeat.
    private var period: Duration? = .milliseconds(40)
    private var timer: RunLoop.Timer?
    private var held: UInt32?
    /// The question that is not answered yet, and the key for which it was asked.
    private var question: (callback: OpaquePointer, code: UInt32)?

    init(_ connection: CompositorConnection, _ queue: InputQueue) {
        self.connection = connection
        self.queue = queue
    }

    /// Takes the compositor's rate, in repeats a second, and its delay before the first repeat in milliseconds.
    ///
    /// No key repeats at a rate of zero. A rate above 200 counts as 200, and a delay above 10 s as 10 s.
    func set(rate: Int, delay: Int) {
        period = rate > 0 ? .seconds(1) / min(rate, 200) : nil
        self.delay = .milliseconds(min(max(delay, 1), 10_000))
        stop()
    }

    /// Begins or ends the repeats of a key; another key that goes down ends those of the last one.
    func note(_ code: UInt32, isDown: Bool) {
        if isDown {
            start(code)
        } else if code == held {
            stop()
        }
    }

    private func start(_ code: UInt32) {
        stop()
        guard let period else { return }
        held = code
        let timer = RunLoop.Timer(.after(delay, every: period), label: "key repeat") { [weak self] _ in self?.ask() }
        for mode in queue.modes { queue.loop.add(timer, in: mode) }
        self.timer = timer
    }

    /// Ends the repeats.
    func stop() {
        timer?.invalidate()
        (timer, held) = (nil, nil)
    }

    private func ask() {
        guard let held, question == nil, let callback = wl_display_sync(connection.display) else { return }
        question = (callback, held)
        connection.listen(to: callback, as: .callback)
    }

    /// Handles an answer; returns false if it is not one of these.
    func done(_ object: OpaquePointer) -> Bool {
        guard let question, question.callback == object else { return false }
        wl_callback_destroy(object)
        self.question = nil
        if question.code == held { handler(question.code) }
        return true
    }
}
#endif
