// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Watches the touches of its view and of all that is inside, and says when they are a gesture.
///
/// A recogniser sees touches before the view does. What it makes of them is decided before the loop sleeps: which of
/// several gestures begins, which views lose their touches, and then whose actions are called. A recogniser that has no
/// touches costs nothing.
///
/// A subclass overrides the methods of touches, sets ``state``, and forgets in ``reset()`` what it has gathered.
@MainActor open class GestureRecognizer {
    /// How far a gesture is.
    public enum State: Hashable, Sendable {
        /// Nothing was recognised yet.
        case possible
        /// A gesture that lasts has begun.
        case began
        /// A gesture that lasts goes on.
        case changed
        /// A gesture was recognised: a short one as a whole, or the end of one that lasts.
        case ended
        /// A gesture that lasts was given up.
        case cancelled
        /// The touches are no such gesture; there is no action.
        case failed

        /// Whether nothing follows until the touches have ended.
        var isFinal: Bool { self == .ended || self == .cancelled || self == .failed }

        /// Whether the gesture was recognised.
        var isRecognized: Bool { self == .began || self == .changed || self == .ended }

        /// The state that comes of this one when a recogniser wishes for another; nil if none does.
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

    /// The view whose touches it sees.
    public internal(set) weak var view: View?
    /// Decides for the recogniser.
    public weak var delegate: (any GestureRecognizerDelegate)?
    /// Whether a view loses its touches when the gesture is recognised; true unless set.
    ///
    /// The view gets `touchesCancelled` for what it has got, and the rest not at all.
    public var cancelsTouchesInView = true
    /// Whether a view gets the beginning of a touch only when the gesture has failed; false unless set.
    public var delaysTouchesBegan = false
    /// Whether a view gets the end of a touch only when the gesture has failed; true unless set.
    public var delaysTouchesEnded = true
    /// The buttons of the mouse of which a touch has to come with one; the primary one unless set, as a finger does.
    ///
    /// Touches of other buttons are not seen. UIKit has this for taps alone; here no gesture begins with a button that
    /// it was not made for.
    public var buttonMaskRequired = ButtonMask.primary
    /// The recognisers that have to fail before this one begins.
    private(set) var requirements: [WeakRecognizer] = []
    private var actions: [() -> Void] = []

    /// A recogniser without a view.
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

    /// Whether it sees touches; becoming false cancels a gesture that is under way.
    public var isEnabled = true { didSet { if !isEnabled { giveUp() } } }

    func wasRemoved() { giveUp() }

    /// Cancels the gesture.
    ///
    /// Before its beginning the gesture fails, also where it only waits for another one to fail.
    func giveUp() {
        stopTimer()
        guard let whenMarked else { return }
        if settled == .possible { settle(.failed) }
        state = .cancelled
        whenMarked()
    }

    // MARK: State

    /// How far the gesture is.
    ///
    /// Subclasses set it. What does not follow the present state is ignored, and so is what a recogniser sets that is
    /// in no window. `failed` counts as `cancelled` after the
    /// beginning, and the other way round before it. A gesture that has to wait for another one to fail stays
    /// `possible` meanwhile. A final state stays until the touches have ended.
    public var state: State {
        get { isWaiting ? settled : wishes.last ?? settled }
        set { wish(newValue) }
    }

    /// The state that was decided last, without the states in `wishes`.
    var settled = State.possible
    /// What was set and is not decided yet.
    var wishes: [State] = []
    /// Whether another recogniser has to fail first.
    var isWaiting = false
    /// Whether the delegate was asked if the gesture may begin.
    var wasAsked = false
    /// Has the recogniser looked at before the loop sleeps; nil while it is nothing to the arbiter.
    var whenMarked: (() -> Void)?

    private func wish(_ wished: State) {
        guard let next = (wishes.last ?? settled).following(wish: wished) else { return }
        if whenMarked == nil { view?.window?.application?.gestures.engage(self) }
        guard let whenMarked else { return }
        if settled == .possible, wished == .failed || wished == .cancelled {
            settle(.failed)
        } else if next != .changed || wishes.last != .changed {
            wishes.append(next)
        }
        whenMarked()
    }

    /// Takes a state that was decided, and drops what was wished for.
    func settle(_ state: State) {
        settled = state
        wishes = []
        isWaiting = false
    }

    /// Whether the gesture is to begin this turn, if nothing prevents it.
    var isToBeDecided: Bool { !wishes.isEmpty && !isWaiting }

    /// Whether it takes further touches.
    var takesTouches: Bool { !settled.isFinal && wishes.last?.isFinal != true }

    /// Changes with each reset: what was begun before it is over.
    private(set) var round = 0

    func resetToPossible() {
        round &+= 1
        stopTimer()
        settle(.possible)
        wasAsked = false
        whenMarked = nil
        seen = []
        active = []
        stroke = []
        reset()
    }

    // MARK: Touches

    /// The touches that it has seen since the last reset.
    private(set) var seen: [Touch] = []
    /// The touches among ``seen`` that have not ended.
    private(set) var active: [Touch] = []
    /// The touches since there was no finger down.
    private var stroke: [Touch] = []

    /// Whether a touch belongs to what it has seen since the last reset.
    func hasSeen(_ touch: Touch) -> Bool { seen.contains { $0 === touch } }

    private var located: [Touch] { active.isEmpty ? stroke : active }

    /// How many touches it sees; after the last has ended, how many there were.
    public var numberOfTouches: Int { located.count }

    /// The middle of the touches, in the coordinates of a view; of the display if there is none.
    public func location(in view: View?) -> Point {
        let touches = located
        if touches.isEmpty { return .zero }
        let sum = touches.reduce(Point.zero) { $0 + $1.location(in: view) }
        return Point(sum.x / Double(touches.count), sum.y / Double(touches.count))
    }

    /// Where one of the touches is, in the coordinates of a view; of the display if there is none.
    ///
    /// - Precondition: `index` is below ``numberOfTouches``.
    public func location(ofTouch index: Int, in view: View?) -> Point {
        let touches = located
        RunLoops.require(
            touches.indices.contains(index),
            "There is no touch \(index): the recogniser sees \(touches.count). Ask for an index below numberOfTouches.")
        return touches[index].location(in: view)
    }

    /// Sees no more of a touch; the view keeps it when the gesture is recognised.
    public func ignore(_ touch: Touch, for event: Event? = nil) {
        forget(touch)
        seen.removeAll { $0 === touch }
        stroke.removeAll { $0 === touch }
        touch.recognizers.removeAll { $0 === self }
    }

    func receive(_ touch: Touch, _ event: Event) {
        if touch.phase == .began {
            if active.isEmpty { stroke = [] }
            seen.append(touch)
            active.append(touch)
            stroke.append(touch)
        }
        if takesTouches, isEnabled {
            switch touch.phase {
            case .began: touchesBegan([touch], with: event)
            case .moved: touchesMoved([touch], with: event)
            case .ended: touchesEnded([touch], with: event)
            case .cancelled: touchesCancelled([touch], with: event)
            case .stationary: break
            }
        }
        if touch.phase == .ended || touch.phase == .cancelled { forget(touch) }
    }

    private func forget(_ touch: Touch) { active.removeAll { $0 === touch } }

    // MARK: For subclasses

    /// Touches have begun.
    open func touchesBegan(_ touches: Set<Touch>, with event: Event) {}
    /// Touches have moved.
    open func touchesMoved(_ touches: Set<Touch>, with event: Event) {}
    /// Touches have ended; they still count as touches of the recogniser.
    open func touchesEnded(_ touches: Set<Touch>, with event: Event) {}
    /// Touches were taken away.
    open func touchesCancelled(_ touches: Set<Touch>, with event: Event) { state = .cancelled }
    /// The touches have ended, and the state is `possible` again; what was gathered is to be forgotten.
    open func reset() {}

    /// Whether a gesture can still come of it when all its touches have ended, as the second tap of two does; false
    /// unless overridden.
    ///
    /// A recogniser that is `possible` and expects nothing has failed.
    open var expectsMoreTouches: Bool { false }

    /// Whether this gesture, when recognised, makes the other one fail; true unless overridden.
    open func canPrevent(_ other: GestureRecognizer) -> Bool { true }
    /// Whether the other gesture, when recognised, makes this one fail; true unless overridden.
    open func canBePrevented(by other: GestureRecognizer) -> Bool { true }

    // MARK: Time

    private var timer: RunLoop.Timer?

    /// Calls ``timeIsUp()`` once, instead of what was asked for before.
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

    /// The time that was asked for has passed.
    func timeIsUp() {}
}

/// Gives recognisers actions that receive them with their own type.
@MainActor public protocol GestureActionSender: GestureRecognizer {
    /// A recogniser without a view.
    init()
}

extension GestureRecognizer: GestureActionSender {}

extension GestureActionSender {
    /// A recogniser with an action, which receives the recogniser.
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

/// A recogniser that another one knows without keeping it.
struct WeakRecognizer {
    weak var recognizer: GestureRecognizer?
}
