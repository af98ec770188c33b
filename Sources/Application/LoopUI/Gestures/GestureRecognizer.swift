// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Watches the touches of its view and of all views inside, and reports when they are a gesture.
///
/// A recogniser sees touches before the view does. Before the loop sleeps, the application decides which of several
/// gestures begins and in which views touches are cancelled, and then calls the actions. A recogniser that has no
/// touches costs nothing.
///
/// A subclass overrides the methods that receive touches, sets ``state``, and clears its own properties in ``reset()``.
@MainActor open class GestureRecognizer {
    /// The state of a gesture.
    public enum State: Hashable, Sendable {
        /// The gesture was not recognised yet.
        case possible
        /// A continuous gesture has begun.
        case began
        /// A continuous gesture has changed.
        case changed
        /// A discrete gesture, such as a tap, was recognised, or a continuous gesture has ended.
        case ended
        /// A continuous gesture was cancelled.
        case cancelled
        /// The touches are not this gesture; no action is called.
        case failed

        /// Whether the state stays until the touches have ended.
        var isFinal: Bool { self == .ended || self == .cancelled || self == .failed }

        /// Whether the gesture was recognised.
        var isRecognized: Bool { self == .began || self == .changed || self == .ended }

        /// Returns the state that follows this one when a recogniser asks for `wish`; nil if the wish is ignored.
        func following(wish: State) -> State? {
            switch (self, wish) {
            case (.ended, _), (.cancelled, _), (.failed, _), (_, .possible), (.began, .began): nil
            case (.possible, .changed): .began
            case (.possible, .cancelled): .failed
            case (.changed, .began): .changed
            case (.began, .failed), (.changed, .failed): .cancelled
            default: wish
            }
        }
    }

    /// The view whose touches the recogniser sees.
    public internal(set) weak var view: View?
    /// The delegate, which decides whether the gesture may begin and which touches the recogniser sees.
    public weak var delegate: (any GestureRecognizerDelegate)?
    /// Whether a view loses its touches when the gesture is recognised; true unless set.
    ///
    /// The view receives `touchesCancelled` for the touches whose beginning it has received, and no further calls for
    /// them.
    public var cancelsTouchesInView = true
    /// Whether a view gets the beginning of a touch only when the gesture has failed; false unless set.
    public var delaysTouchesBegan = false
    /// Whether a view gets the end of a touch only when the gesture has failed; true unless set.
    public var delaysTouchesEnded = true
    /// The buttons of the mouse whose touches the recogniser sees; the primary button, which fingers count as, unless
    /// set.
    ///
    /// UIKit has this property for taps alone; here it applies to all gestures, so that none begins with an unexpected
    /// button.
    public var buttonMaskRequired = ButtonMask.primary
    /// The recognisers that have to fail before this one begins.
    private(set) var requirements: [WeakRecognizer] = []
    private var actions: [() -> Void] = []

    /// Makes a recogniser without a view.
    public required init() {}

    fileprivate func keep(_ action: @escaping () -> Void) { actions.append(action) }

    func callActions() { for action in actions { action() } }

    /// Keeps this gesture from beginning until the other one has failed, and makes it fail if the other one is
    /// recognised.
    ///
    /// A recogniser that has seen none of the touches is not waited for.
    public func require(toFail other: GestureRecognizer) {
        requirements.removeAll { $0.recognizer == nil }
        requirements.append(WeakRecognizer(recognizer: other))
    }

    /// Whether the recogniser sees touches; setting it to false cancels a gesture that is under way.
    public var isEnabled = true { didSet { if !isEnabled { giveUp() } } }

    func wasRemoved() { giveUp() }

    /// Cancels the gesture.
    ///
    /// A gesture that has not begun fails, even if it only waits for another gesture to fail.
    func giveUp() {
        stopTimer()
        guard let whenMarked else { return }
        if progress.decided == .possible { fail() }
        state = .cancelled
        whenMarked()
    }

    // MARK: State

    /// The state of the gesture; subclasses set it.
    ///
    /// A state that cannot follow the present one is ignored, and so is each state that is set while the recogniser is
    /// in no window. After the beginning, `failed` counts as `cancelled`; before it, `cancelled` counts as `failed`. A
    /// gesture that waits for another one to fail stays `possible`. A final state stays until the touches have ended.
    public var state: State {
        get { progress.visible }
        set { wish(newValue) }
    }

    /// Written here, and by the arbiter when it decides.
    var progress = Progress.none
    /// Makes the arbiter decide about the recogniser before the loop sleeps; nil while the arbiter does not know it.
    var whenMarked: (() -> Void)?

    private func wish(_ wished: State) {
        let last = progress.wishes.last
        guard let next = (last ?? progress.decided).following(wish: wished) else { return }
        if whenMarked == nil { view?.window?.application?.gestures.engage(self) }
        guard let whenMarked else { return }
        if progress.decided == .possible, wished == .failed || wished == .cancelled {
            fail()
        } else if next != .changed || last != .changed {
            progress.wishes.append(next)
        }
        whenMarked()
    }

    /// Decides that the touches are not this gesture, and discards the states that were set.
    func fail() { progress = .decided(.failed, wishes: []) }

    /// The number of resets, which shows whether the recogniser was reset during a call.
    private(set) var round = 0

    func resetToPossible() {
        round &+= 1
        stopTimer()
        progress = .none
        whenMarked = nil
        touches = SeenTouches()
        reset()
    }

    // MARK: Touches

    private var touches = SeenTouches()

    /// The touches that the recogniser has seen since its last reset.
    var seen: [Touch] { touches.all }
    /// The touches among ``seen`` that have not ended.
    var active: [Touch] { touches.active }

    /// Whether the recogniser has seen a touch since its last reset.
    func hasSeen(_ touch: Touch) -> Bool { seen.contains { $0 === touch } }

    /// The number of touches that are down; after the last touch has ended, the number of all touches since the first
    /// finger went down.
    public var numberOfTouches: Int { touches.located.count }

    /// Returns the middle of the touches in the coordinates of a view, or of the display if `view` is nil.
    public func location(in view: View?) -> Point {
        let touches = touches.located
        if touches.isEmpty { return .zero }
        let sum = touches.reduce(Point.zero) { $0 + $1.location(in: view) }
        return Point(sum.x / Double(touches.count), sum.y / Double(touches.count))
    }

    /// Returns the position of one touch in the coordinates of a view, or of the display if `view` is nil.
    ///
    /// - Precondition: `index` is below ``numberOfTouches``.
    public func location(ofTouch index: Int, in view: View?) -> Point {
        let touches = touches.located
        RunLoops.require(
            touches.indices.contains(index),
            "There is no touch \(index): the recogniser sees \(touches.count). Ask for an index below numberOfTouches.")
        return touches[index].location(in: view)
    }

    /// Stops watching a touch; the view keeps the touch even if the gesture is recognised.
    public func ignore(_ touch: Touch, for event: Event? = nil) {
        touches.remove(touch)
        touch.recognizers.removeAll { $0 === self }
    }

    func receive(_ touch: Touch, _ event: Event) {
        if touch.phase == .began { touches.begin(touch) }
        if progress.takesTouches, isEnabled {
            switch touch.phase {
            case .began: touchesBegan([touch], with: event)
            case .moved: touchesMoved([touch], with: event)
            case .ended: touchesEnded([touch], with: event)
            case .cancelled: touchesCancelled([touch], with: event)
            case .stationary: break
            }
        }
        if touch.phase == .ended || touch.phase == .cancelled { touches.end(touch) }
    }

    // MARK: For subclasses

    /// Called when touches have begun.
    open func touchesBegan(_ touches: Set<Touch>, with event: Event) {}
    /// Called when touches have moved.
    open func touchesMoved(_ touches: Set<Touch>, with event: Event) {}
    /// Called when touches have ended; they still count as touches of the recogniser during the call.
    open func touchesEnded(_ touches: Set<Touch>, with event: Event) {}
    /// Called when touches were cancelled; sets ``state`` to `cancelled` unless overridden.
    open func touchesCancelled(_ touches: Set<Touch>, with event: Event) { state = .cancelled }
    /// Called when the touches have ended and the state is `possible` again; an override clears the subclass's own
    /// properties.
    open func reset() {}

    /// Whether the gesture can still be recognised after all touches have ended, such as a double tap after its first
    /// tap; false unless overridden.
    ///
    /// A recogniser that is still `possible` when its touches have ended fails if this is false.
    open var expectsMoreTouches: Bool { false }

    /// Whether this gesture, when recognised, makes the other one fail; true unless overridden.
    open func canPrevent(_ other: GestureRecognizer) -> Bool { true }
    /// Whether the other gesture, when recognised, makes this one fail; true unless overridden.
    open func canBePrevented(by other: GestureRecognizer) -> Bool { true }

    // MARK: Time

    private var timer: RunLoop.Timer?

    /// Calls ``timeIsUp()`` once after a delay; replaces an earlier timer.
    func startTimer(_ delay: Duration) {
        stopTimer()
        guard whenMarked != nil else { return }
        let timer = RunLoop.Timer(.after(delay), label: "gesture") { [weak self] _ in
            self?.timer = nil
            self?.timeIsUp()
        }
        self.timer = timer
        RunLoop.current.add(timer, in: .common)
    }

    func stopTimer() {
        timer?.invalidate()
        timer = nil
    }

    /// Called when the delay of ``startTimer(_:)`` has passed.
    func timeIsUp() {}
}

/// A recogniser whose actions receive the recogniser with its own type.
@MainActor public protocol GestureActionSender: GestureRecognizer {
    /// Makes a recogniser without a view.
    init()
}

extension GestureRecognizer: GestureActionSender {}

extension GestureActionSender {
    /// Makes a recogniser with an action, which receives the recogniser.
    ///
    /// ```swift
    /// let pan = PanGestureRecognizer { [weak view] in view?.frame.origin = $0.translation(in: nil) }
    /// ```
    ///
    /// - Parameter action: Called whenever the gesture begins, changes, ends or is cancelled.
    public init(_ action: @escaping (Self) -> Void) {
        self.init()
        addAction(action)
    }

    /// Calls a closure with the recogniser whenever the gesture begins, changes, ends or is cancelled.
    ///
    /// ```swift
    /// let pan = PanGestureRecognizer()
    /// pan.addAction { [weak view] in view?.frame.origin = $0.translation(in: nil) }
    /// ```
    public func addAction(_ action: @escaping (Self) -> Void) {
        keep { [weak self] in if let self { action(self) } }
    }
}

/// A weak reference to a recogniser.
struct WeakRecognizer {
    weak var recognizer: GestureRecognizer?
}
