// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A view that shows a part of its content, which the user scrolls with a drag, the wheel or keys.
///
/// Views inside have frames in the coordinates of the content, whose size is ``contentSize``. The content stops at its
/// edges. While a finger drags, and until the content has come to rest, the loop runs in the tracking mode. Timers and
/// sources that are only in the default mode wait until then.
@MainActor open class ScrollView: View, GestureRecognizerDelegate {
    /// How fast the content slows down when the finger has left it: the part of the velocity that is left after a
    /// millisecond.
    public struct DecelerationRate: RawRepresentable, Hashable, Sendable {
        /// The part of the velocity that is left after a millisecond, between 0 and 1.
        public let rawValue: Double

        /// Makes the rate at which this part of the velocity is left after a millisecond.
        ///
        /// - Precondition: `rawValue` lies between 0 and 1.
        public init(rawValue: Double) {
            require(
                rawValue > 0 && rawValue < 1,
                "The deceleration rate \(rawValue) does not lie between 0 and 1: give .normal or .fast.")
            self.rawValue = rawValue
        }

        /// The usual rate: 0.998, as in UIKit.
        public static let normal = DecelerationRate(rawValue: 0.998)
        /// The rate at which the content stops sooner: 0.99, as in UIKit.
        public static let fast = DecelerationRate(rawValue: 0.99)
    }

    /// The delegate, which is called when the content moves.
    open weak var delegate: (any ScrollViewDelegate)?

    /// Makes a scroll view with the given frame and without content.
    public override init(frame: Rect = .zero) {
        super.init(frame: frame)
        clipsToBounds = true
        panGestureRecognizer.delegate = self
        panGestureRecognizer.addAction { [weak self] _ in self?.panned() }
        addGestureRecognizer(contentTouches)
        addGestureRecognizer(panGestureRecognizer)
    }

    isolated deinit { trackedModes?.pop(.tracking) }

    // MARK: Content

    /// The size of the content, in points.
    public var contentSize = Size.zero { didSet { if contentSize != oldValue { contentChanged() } } }

    /// The empty room around the content that can be scrolled into view.
    public var contentInset = Insets.zero { didSet { if contentInset != oldValue { contentChanged() } } }

    /// The point of the content that is at the upper left corner of the view.
    ///
    /// A value that is set is rounded to whole points, and limited to the range that ``contentSize`` and
    /// ``contentInset`` allow.
    public var contentOffset: Point {
        get { bounds.origin }
        set { setContentOffset(newValue, animated: false) }
    }

    public override var bounds: Rect {
        get { super.bounds }
        set {
            let old = super.bounds.origin
            super.bounds = Rect(origin: limited(newValue.origin, in: newValue.size), size: newValue.size)
            if super.bounds.origin == old { return }
            delegate?.scrollViewDidScroll(self)
        }
    }

    public override var frame: Rect {
        didSet { if frame.size != oldValue.size { sizeChanged(from: oldValue.size) } }
    }

    /// Returns the smallest and the largest content offset of a view of this size.
    func limits(in size: Size) -> (first: Point, last: Point) {
        let (inset, content, size) = (contentInset.limited, contentSize, size.limited)
        let first = Point(-inset.left, -inset.top)
        // Of rows there may be more than anything else is long.
        func end(_ length: Double) -> Double { length.isNaN ? 0 : max(0, min(1e18, length)) }
        let last = Point(
            max(first.x, end(content.width) + inset.right - size.width),
            max(first.y, end(content.height) + inset.bottom - size.height))
        return (first, last)
    }

    /// Returns the content offset that is nearest to `offset` and possible in a view of this size, in whole points.
    private func limited(_ offset: Point, in size: Size) -> Point {
        let (first, last) = limits(in: size)
        return Point(min(last.x, max(first.x, offset.x.rounded())), min(last.y, max(first.y, offset.y.rounded())))
    }

    /// Returns the distance between two content offsets after both were limited to the content: the horizontal or the
    /// vertical distance, whichever is larger.
    func distance(from place: Point, to target: Point) -> Double {
        let (first, last) = limits(in: frame.size)
        func clamp(_ value: Double, _ low: Double, _ high: Double) -> Double { min(high, max(low, value)) }
        return max(
            abs(clamp(place.x, first.x, last.x) - clamp(target.x, first.x, last.x)),
            abs(clamp(place.y, first.y, last.y) - clamp(target.y, first.y, last.y)))
    }

    /// Returns the content offset at which the content rests if it is moved to `place`.
    func restingOffset(near place: Point) -> Point { limited(place, in: frame.size) }

    /// Whether scrolling to an offset would move the content.
    func canScroll(to place: Point) -> Bool { limited(place, in: frame.size) != contentOffset }

    /// Called when the size has changed: limits the content offset again.
    func sizeChanged(from old: Size) { bounds.origin = contentOffset }

    private func contentChanged() {
        bounds.origin = contentOffset
        setNeedsLayout()
        setNeedsDisplay()
    }

    // MARK: Movement by the program

    /// Whether the user can scroll; true unless set.
    public var isScrollEnabled = true { didSet { if !isScrollEnabled { stopScrolling() } } }

    /// Scrolls a point of the content to the upper left corner, or as near to the corner as the content reaches.
    ///
    /// - Parameters:
    ///   - offset: The point of the content.
    ///   - animated: Whether the movement is animated, for 0.3 s. For a user who has asked for reduced motion, the
    ///     content is moved at once.
    public func setContentOffset(_ offset: Point, animated: Bool) {
        stopMotion()
        // Read after the delegate was called.
        let target = limited(offset, in: frame.size)
        guard animated, target != contentOffset, drag == nil, let application = window?.application,
            !application.display.abilities.reducesMotion
        else {
            return shiftContent(by: target - contentOffset)
        }
        shift = .zero
        let animation = ScrollAnimation(start: contentOffset, target: target)
        motion = ScrollMotion(application, in: [.common], from: application.now) { [weak self] time in
            guard let self else { return }
            let own = motion
            bounds.origin = animation.offset(after: time) + shift
            // The delegate may have begun another movement.
            if animation.isOver(after: time), motion === own { stopMotion() }
        }
    }

    /// Scrolls by the smallest distance that brings a rectangle of the content into view.
    ///
    /// If the rectangle is larger than the view, its upper left part is shown.
    public func scrollRectToVisible(_ rect: Rect, animated: Bool = false) {
        func offset(_ now: Double, _ length: Double, _ first: Double, _ last: Double) -> Double {
            if first < now || last - first > length { return first }
            return last > now + length ? last - length : now
        }
        let place = Point(
            offset(contentOffset.x, frame.size.width, rect.minX, rect.maxX),
            offset(contentOffset.y, frame.size.height, rect.minY, rect.maxY))
        if place != contentOffset { setContentOffset(place, animated: animated) }
    }

    /// Moves the content without ending a drag, a deceleration or an animation, which continues from the new offset.
    func shiftContent(by way: Point) {
        shift = shift + way
        bounds.origin = contentOffset + way
    }

    /// How far ``shiftContent(by:)`` has moved the content since the movement under way began.
    var shift = Point.zero

    /// Scrolls the part of a view inside that has the focus into view, and asks the views around to do so too.
    override func reveal(_ rect: Rect) {
        scrollRectToVisible(rect)
        super.reveal(rect.intersection(bounds))
    }

    /// Ends every movement: a drag, the deceleration after a drag, or an animation.
    ///
    /// The content stays where it is.
    public func stopScrolling() {
        stopMotion()
        endDrag(velocity: nil)
    }

    /// The animation or deceleration under way.
    var motion: ScrollMotion?
    /// Whether the content continues to move after the finger has left it.
    public internal(set) var isDecelerating = false
    /// The drag under way.
    var drag: ScrollDrag?

    /// Ends the animation or deceleration under way.
    func stopMotion() {
        guard motion != nil else { return }
        motion = nil
        if isDecelerating { endDeceleration() } else { delegate?.scrollViewDidEndScrollingAnimation(self) }
    }

    /// Whether the content can move in a direction.
    func canScroll(by way: Point) -> Bool { canScroll(to: contentOffset + Point(way.x.unit, way.y.unit)) }

    /// Moves the content as far as it goes, without animation.
    func scroll(by way: Point) { setContentOffset(contentOffset + way, animated: false) }

    open override func didMoveToWindow() {
        super.didMoveToWindow()
        if window == nil { stopScrolling() }
    }

    // MARK: Touches

    /// The recogniser of drags that scroll the content.
    public let panGestureRecognizer = PanGestureRecognizer()
    /// Keeps touches from the views inside until it is clear whether the user scrolls.
    let contentTouches = ContentTouches()
    /// The stack of modes to which the tracking mode was pushed.
    var trackedModes: ModeStack?

    /// How fast the content slows down when the finger has left it.
    public var decelerationRate = DecelerationRate.normal

    /// Whether views inside get a touch only when it is clear that the user does not scroll, or after 150 ms; true
    /// unless set.
    public var delaysContentTouches = true

    /// Whether a drag can cancel a touch that a view inside has received; true unless set.
    ///
    /// If this is false, a touch does not scroll after a view inside has received it.
    public var canCancelContentTouches = true

    /// Whether a view inside receives touches that begin there; true unless overridden.
    ///
    /// Called before the view receives the beginning of the touches.
    open func touchesShouldBegin(_ touches: Set<Touch>, with event: Event?, in view: View) -> Bool { true }

    /// Whether a drag cancels the touches that a view inside has received; false for controls and views inside them,
    /// true for all others, unless overridden.
    open func touchesShouldCancel(in view: View) -> Bool {
        !sequence(first: view, next: { $0.superview }).prefix { $0 !== self }.contains { $0.keepsTouches }
    }

    /// Whether a gesture begins; the drag begins if the content can move and no view inside keeps its touch.
    ///
    /// A view inside keeps a touch that it has received if ``canCancelContentTouches`` is false, or if
    /// ``touchesShouldCancel(in:)`` returns false for the view. At an edge of its content this view leaves the drag to
    /// a scroll view around it whose content can still move.
    open func gestureRecognizerShouldBegin(_ recognizer: GestureRecognizer) -> Bool {
        guard recognizer === panGestureRecognizer else { return true }
        guard isScrollEnabled, scrolls(panGestureRecognizer.translation(in: self)) else { return false }
        guard contentTouches.areDelivered, let content = contentTouches.content, content !== self else { return true }
        return canCancelContentTouches && touchesShouldCancel(in: content)
    }

    /// Whether this view scrolls for a drag that begins in this direction.
    private func scrolls(_ translation: Point) -> Bool {
        let isLevel = abs(translation.x) > abs(translation.y)
        let way = isLevel ? Point(-translation.x, 0) : Point(0, -translation.y)
        if canScroll(by: way) { return true }
        let outer = sequence(first: self as View, next: { $0.superview }).dropFirst().compactMap { $0 as? ScrollView }
        if outer.contains(where: { $0.isScrollEnabled && $0.canScroll(by: way) }) { return false }
        return canScroll(by: Point(-way.x, -way.y))
    }

    /// Gives the view the focus, unless a view inside has it; a drag does so too.
    open override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        takeFocus()
        super.touchesBegan(touches, with: event)
    }

    func takeFocus() {
        if canBecomeFirstResponder, (window?.firstResponder as? View)?.isInside(self) != true { becomeFirstResponder() }
    }

    // MARK: Wheel

    /// How far one notch of the wheel moves the content, in points; 3 unless set.
    public var pointsPerNotch = 3.0

    /// Scrolls the content; sideways if the shift key is held.
    ///
    /// If the content cannot move in this direction, the turn is passed to the next responder, such as a scroll view
    /// around this one.
    open override func wheelTurned(_ wheel: Wheel, with event: Event?) {
        let points = pointsPerNotch.length
        var way = Point(wheel.notches.x.length * points, wheel.notches.y.length * points)
        if event?.modifiers.contains(.shift) == true, way.x == 0 { way = Point(way.y, 0) }
        guard isScrollEnabled, canScroll(by: way) else { return super.wheelTurned(wheel, with: event) }
        scroll(by: way)
    }

    // MARK: Keys

    open override var canBecomeFirstResponder: Bool { isScrollEnabled }

    /// Scrolls by a point for an arrow, by a page for a page key, and to an edge of the content for home and end.
    open override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            guard isScrollEnabled, press.modifiers.isEmpty, let place = place(for: press.key) else { continue }
            setContentOffset(place, animated: false)
            return
        }
        super.pressesBegan(presses, with: event)
    }

    /// Returns the content offset to which a key scrolls; nil if the key does not scroll, or if the content cannot move
    /// in its direction.
    private func place(for key: Key) -> Point? {
        let (first, last) = limits(in: frame.size)
        let page = max(1, frame.size.height - 1)
        let (x, y) = (contentOffset.x, contentOffset.y)
        let isTall = last.y > first.y
        let isWide = last.x > first.x
        return switch key {
        case .up where isTall: Point(x, y - 1)
        case .down where isTall: Point(x, y + 1)
        case .left where isWide: Point(x - 1, y)
        case .right where isWide: Point(x + 1, y)
        case .pageUp where isTall: Point(x, y - page)
        case .pageDown where isTall: Point(x, y + page)
        case .home where isTall: Point(x, first.y)
        case .end where isTall: Point(x, last.y)
        default: nil
        }
    }

    // MARK: Indicators

    /// Whether a bar at the right edge shows where the view is in its content; true unless set.
    public var showsVerticalScrollIndicator = true {
        didSet {
            setNeedsLayout()
            setNeedsDisplay()
        }
    }
    /// Whether a bar at the lower edge shows where the view is in its content; true unless set.
    public var showsHorizontalScrollIndicator = true { didSet { setNeedsDisplay() } }
    /// The colour of the bars.
    public var indicatorColor = Color.gray { didSet { setNeedsDisplay() } }

    /// Draws the bars over the content; there is no bar in a direction in which all of the content is in view.
    override func composeOverContent(into grid: inout CellGrid, area: CellRect, clip: CellRect) {
        drawIndicators(into: &grid, area: area, clip: clip)
    }
}

extension Double {
    /// 1 with this number's sign; 0 for 0.
    fileprivate var unit: Double { self == 0 ? 0 : self < 0 ? -1 : 1 }
}
