// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A rectangle that draws, contains other views and receives events.
///
/// Changes are collected and carried out once per turn, before the loop sleeps: first layout, then drawing, then one
/// frame for the display.
@MainActor open class View: Responder {
    // MARK: Place

    /// The position and size of the view, in the coordinates of its superview.
    public var frame: Rect {
        didSet {
            if frame == oldValue { return }
            if !animateChange(from: .frame(oldValue)) {
                damage(oldValue)
                damage(frame)
            }
            if frame.size == oldValue.size { return }
            setNeedsLayout()
            setNeedsDisplay()
        }
    }

    /// The view's rectangle in its own coordinates: the size, and the point of the content that is at the upper left
    /// corner.
    ///
    /// Moving the origin moves the views inside, which is how a view scrolls.
    public var bounds: Rect {
        get { Rect(origin: contentOrigin, size: frame.size) }
        set {
            if newValue.origin != contentOrigin {
                let old = contentOrigin
                contentOrigin = newValue.origin
                if !animateChange(from: .contentOrigin(old)) { damageShown() }
                setNeedsLayout()
            }
            frame.size = newValue.size
        }
    }

    private var contentOrigin = Point.zero

    /// The properties that few views need; nil until the view needs one.
    var extras: ViewExtras?

    /// Makes a view with the given frame.
    public init(frame: Rect = .zero) {
        self.frame = frame
        super.init()
    }

    // MARK: Looks

    /// The colour behind the view's content; where it is clear, the views below show through.
    public var backgroundColor = Color.clear {
        didSet {
            if backgroundColor != oldValue, !animateChange(from: .backgroundColor(oldValue)) { damageShown() }
        }
    }

    /// Whether the view and all views inside are neither drawn nor found by hit tests.
    public var isHidden = false {
        didSet {
            if isHidden == oldValue { return }
            damageShown()
            seenChanged()
            invalidateIntrinsicContentSize()
        }
    }

    /// The opacity of the view and of all views inside, from 0 to 1; below 0.01 the view counts as hidden.
    ///
    /// Colours that have parts (``Color/rgb(_:_:_:)``) are mixed with the colours below. The terminal's own colours
    /// cannot be mixed: they are invisible below 0.5, and letters in them are dim up to 0.75. A cell shows one
    /// character: the view's if the alpha is at least 0.5.
    public var alpha = 1.0 {
        didSet {
            if alpha == oldValue { return }
            if !animateChange(from: .alpha(oldValue)) { damageShown() }
            seenChanged()
        }
    }

    private func seenChanged() {
        // What was marked while the view was not seen is done now.
        if isSeen { markTree() } else { window?.takeKeys(from: self) }
    }

    /// Whether views inside are cut off at this view's edges; false unless set.
    public var clipsToBounds = false { didSet { if clipsToBounds != oldValue { damageShown() } } }

    /// Whether touches that began in this view stay with it when a scroll view around it is dragged; true for controls.
    var keepsTouches: Bool { false }

    var isSeen: Bool { !isHidden && alpha >= 0.01 }

    /// Whether the view and all views around it are seen.
    var isShown: Bool { sequence(first: self, next: { $0.superview }).allSatisfy(\.isSeen) }

    /// The styles of this view and of all views inside.
    ///
    /// Unless set, they are the superview's styles, or the application's for a view without a superview.
    /// ``resetTheme()`` removes a setting.
    ///
    /// - Complexity: O(depth) to read, O(views inside) to set.
    public var theme: Theme {
        get {
            var view: View? = self
            while let present = view {
                if let own = present.ownTheme { return own.theme }
                view = present.superview
            }
            return (window?.application ?? .current)?.theme ?? .standard
        }
        set {
            ownTheme = ThemeBox(newValue)
            setNeedsDisplayOfTree()
        }
    }

    // In a box, since few views have one.
    private var ownTheme: ThemeBox?

    /// Removes the view's own theme, so that it has the superview's theme again.
    public func resetTheme() {
        ownTheme = nil
        setNeedsDisplayOfTree()
    }

    func setNeedsDisplayOfTree() {
        setNeedsDisplay()
        for subview in subviews { subview.setNeedsDisplayOfTree() }
    }

    // MARK: Accessibility

    /// The kind of the view in one word, such as "button", for users who do not see the view.
    open var accessibilityRole: String? { nil }
    /// The name of the view in words, for users who do not see the view.
    open var accessibilityLabel: String?
    /// The present value of the view in words, such as "on", for users who do not see the view.
    open var accessibilityValue: String? { nil }

    // MARK: Events

    /// Whether the view and all views inside receive touches; true unless set.
    public var isUserInteractionEnabled = true
    /// The recognisers that see the touches of this view and of all that is inside.
    public private(set) var gestureRecognizers: [GestureRecognizer] = []

    /// Lets a recogniser see the touches of this view.
    ///
    /// The recogniser is removed from its earlier view. It does not see touches that are already under way.
    public func addGestureRecognizer(_ recognizer: GestureRecognizer) {
        recognizer.view?.removeGestureRecognizer(recognizer)
        gestureRecognizers.append(recognizer)
        recognizer.view = self
    }

    /// Removes a recogniser and cancels its gesture if one is under way.
    public func removeGestureRecognizer(_ recognizer: GestureRecognizer) {
        guard let index = gestureRecognizers.firstIndex(where: { $0 === recognizer }) else { return }
        gestureRecognizers.remove(at: index)
        recognizer.view = nil
        recognizer.wasRemoved()
    }

    /// Returns the view that a touch at a point hits: the frontmost view inside, or this view; nil if there is none.
    ///
    /// Views that are hidden, have an alpha below 0.01 or receive no touches are skipped with all views inside. Views
    /// outside of their superview's bounds are not found.
    ///
    /// - Parameters:
    ///   - point: The point, in the view's own coordinates.
    ///   - event: The event that needs the hit test; nil if there is none.
    /// - Complexity: O(views that contain the point and their subviews).
    open func hitTest(_ point: Point, with event: Event?) -> View? {
        guard isUserInteractionEnabled, isSeen, self.point(inside: point, with: event) else { return nil }
        for subview in subviews.reversed() where subview.superview === self {
            if let hit = subview.hitTest(subview.convert(fromSuperview: point), with: event) { return hit }
        }
        return self
    }

    /// Whether a point, in the view's own coordinates, belongs to the view; the bounds decide unless overridden.
    open func point(inside point: Point, with event: Event?) -> Bool { bounds.contains(point) }

    // MARK: Hierarchy

    /// The view that contains this one; nil if there is none.
    public private(set) weak var superview: View?
    /// The views directly inside, the frontmost last.
    ///
    /// - Complexity: O(1); O(views directly inside) after one of them was removed.
    public var subviews: [View] { inside.all() }
    private var inside = ViewList<SubviewNumber>()
    /// The view's number among the superview's subviews.
    fileprivate var number = 0
    /// The view's number among the arranged subviews of a stack.
    var arrangedNumber = 0
    /// The window that contains the view; nil if there is none.
    public var window: Window? { superview?.window }
    /// The controller whose root view this is; nil if there is none.
    weak var owner: (any ViewOwner)?

    open override var next: Responder? { owner ?? superview }

    override var responderWindow: Window? { window }

    /// Adds a view in front of the other subviews.
    public func addSubview(_ view: View) { insertSubview(view, at: inside.count) }

    /// Inserts a view among the subviews.
    ///
    /// - Parameters:
    ///   - view: The view; it is removed from its superview first.
    ///   - index: The view's index; 0 puts it behind all others.
    /// - Precondition: the view does not contain this one, and the tree of views is then at most 500 levels deep, the
    ///   window included.
    /// - Complexity: O(depth) for a view that is added at the end, plus O(views inside the view) if its window changes.
    public func insertSubview(_ view: View, at index: Int) {
        require(!isInside(view), "A view was added to itself, or to a view inside it.")
        if view.superview !== self { reserveLevels(for: view) }
        let (old, new) = (view.window, window)
        view.damageShown()
        if view.superview === self { inside.remove(view) } else { view.superview?.take(view) }
        inside.insert(view, at: index)
        view.superview = self
        view.damageShown()
        setNeedsLayout()
        if old !== new { view.windowChanges(from: old, to: new) } else { new?.takeUnreachableKeys(from: view) }
        view.didMoveToSuperview()
    }

    /// Puts a subview in front of the others.
    ///
    /// - Precondition: the view is a subview of this one.
    public func bringSubviewToFront(_ view: View) {
        require(view.superview === self, "A view that is brought to the front has to be a subview.")
        insertSubview(view, at: inside.count)
    }

    /// Puts a subview behind the others.
    ///
    /// - Precondition: the view is a subview of this one.
    public func sendSubviewToBack(_ view: View) {
        require(view.superview === self, "A view that is sent to the back has to be a subview.")
        insertSubview(view, at: 0)
    }

    /// Removes the view from its superview.
    ///
    /// - Complexity: O(depth + views inside), however many views the superview has.
    public func removeFromSuperview() {
        guard let superview else { return }
        let old = window
        damageShown()
        superview.take(self)
        superview.setNeedsLayout()
        if let old { windowChanges(from: old, to: nil) }
        didMoveToSuperview()
    }

    private func take(_ view: View) {
        inside.remove(view)
        view.superview = nil
    }

    // MARK: Levels

    /// The maximum number of views that may contain each other: functions that walk a tree of views use stack for each
    /// level, and so do responders along a chain and the program's own overrides.
    static let maxLevels = 500

    /// The number of levels of the view and all views inside, or more if views were removed since.
    private var levels = 1

    /// Checks that a view may be added, and counts the levels that it adds.
    private func reserveLevels(for view: View) {
        let above = depth + 1
        if above + view.levels > Self.maxLevels {
            view.levels = view.countLevels()
            require(
                above + view.levels <= Self.maxLevels,
                "\(above + view.levels) views would contain each other: at most \(Self.maxLevels) may. Add views beside each other "
                    + "instead, or draw in draw(in:) what needs no view of its own.")
        }
        var (ancestor, least) = (self as View?, view.levels + 1)
        while let present = ancestor, present.levels < least {
            present.levels = least
            (ancestor, least) = (present.superview, least + 1)
        }
    }

    private func countLevels() -> Int {
        var (count, level) = (0, [self])
        while !level.isEmpty {
            count += 1
            level = level.flatMap(\.subviews)
        }
        return count
    }

    /// Asks the views around to show a part of this view, as a scroll view can.
    func reveal(_ rect: Rect) {
        guard let superview else { return }
        superview.reveal(convert(rect, to: superview))
    }

    /// Whether this view is `view`, or is inside it.
    public func isInside(_ view: View) -> Bool {
        sequence(first: self, next: { $0.superview }).contains { $0 === view }
    }

    /// Called when the view was added to a superview or removed from it.
    open func didMoveToSuperview() {}

    /// Called when the view was added to a window or removed from it, directly or with a view around it.
    open func didMoveToWindow() {}

    private func windowChanges(from old: Window?, to new: Window?) {
        // The views are noted before the program is called: it may move any of them.
        var views: [View] = []
        collect(into: &views)
        for view in views {
            // Nothing moves in a window that is not shown: a repeated animation would never end there.
            if !(new?.isVisible ?? false) { view.endMoves() }
            if new == nil { view.extras?.asyncDrawing?.cancel() }
        }
        old?.takeKeys(from: self)
        for view in views where new != nil && view.window === new {
            if view.needsUpdateConstraints { view.markConstraints() }
            if view.needsLayout { view.markLayout() }
            view.setNeedsDisplay()
        }
        for view in views where view.window === new { view.didMoveToWindow() }
    }

    /// Appends all views inside, and then the view itself.
    private func collect(into views: inout [View]) {
        for subview in subviews { subview.collect(into: &views) }
        views.append(self)
    }

    private func markTree() {
        if needsUpdateConstraints { markConstraints() }
        if needsLayout { markLayout() }
        if needsDisplay { markDisplay() }
        for subview in subviews { subview.markTree() }
    }

    // MARK: Constraints

    /// Whether the view asks for ``updateConstraints()``.
    public internal(set) var needsUpdateConstraints = true
    /// Whether the commit has the view in its list.
    var isConstraintsMarked = false

    /// Sets properties on which the layout depends, such as an axis or a spacing; does nothing unless overridden.
    ///
    /// Called before layout, once when the view was added to a window and after each ``setNeedsUpdateConstraints()``.
    /// An override calls `super` last, as in UIKit. There are no constraints to solve.
    open func updateConstraints() {}

    // MARK: Layout

    private(set) var needsLayout = true
    /// Whether the commit has the view in its list.
    var isLayoutMarked = false

    /// Asks for layout before the next frame.
    public func setNeedsLayout() {
        needsLayout = true
        markLayout()
    }

    /// Lays out this view and the views inside now, as far as they have asked for layout; constraints are updated
    /// before.
    ///
    /// - Complexity: O(views inside).
    public func layoutIfNeeded() {
        updateConstraintsIfNeeded()
        layOutTree()
    }

    /// Lays out this view and the views inside, as far as they have asked for layout.
    func layOutTree() {
        if needsLayout {
            needsLayout = false
            owner?.viewWillLayoutSubviews()
            layoutSubviews()
            owner?.viewDidLayoutSubviews()
            window?.application?.commit.counts.layouts += 1
        }
        for subview in subviews where subview.superview === self { subview.layOutTree() }
    }

    /// Sets the frames of the views inside; does nothing unless overridden.
    open func layoutSubviews() {}

    /// Returns the size that the view wants if `size` is available; its present size unless overridden.
    ///
    /// A view with an ``View/asyncDrawing`` returns the size of the last ``AsyncDrawing/layout(in:)``.
    open func sizeThatFits(_ size: Size) -> Size {
        if let layout = extras?.asyncDrawing?.layout { return layout.size }
        hasDefaultSize = true
        return frame.size
    }

    /// Whether the default implementation of ``sizeThatFits(_:)`` has returned the size.
    private var hasDefaultSize = false

    /// Returns the size that the view wants; if it does not override ``sizeThatFits(_:)``, the size that its subviews
    /// take; all of the room if there are none.
    func leastSize(in room: Size) -> Size {
        hasDefaultSize = false
        var wanted = sizeThatFits(room)
        if hasDefaultSize, wanted == frame.size {
            let places = subviews.filter { !$0.isHidden }.map(\.frame)
            wanted = Size(places.map(\.maxX).max() ?? 0, places.map(\.maxY).max() ?? 0)
        }
        return Size(wanted.width > 0 ? wanted.width : room.width, wanted.height > 0 ? wanted.height : room.height)
    }

    /// Sets the size of the view to the size that it wants if there is no limit.
    public func sizeToFit() { frame.size = sizeThatFits(Size(.infinity, .infinity)) }

    private func markLayout() { window?.application?.commit.markLayout(self) }

    // MARK: Drawing

    private(set) var needsDisplay = true
    /// Whether the commit has the view in its list.
    var isDisplayMarked = false
    /// The cells that the view has drawn.
    var backing: Band?
    var pictures: [PlacedPicture] = []

    /// Asks for ``draw(in:)`` before the next frame.
    public func setNeedsDisplay() {
        needsDisplay = true
        markDisplay()
    }

    /// Draws the view's own content, in coordinates whose origin is the upper left corner; draws nothing unless
    /// overridden.
    ///
    /// The drawing is kept until the view asks for display again or gets another size. Of a view of more than 65,536 cells
    /// the part is kept that can be seen, and a display's size around it; the view is drawn again when another part comes
    /// into sight.
    open func draw(in canvas: inout Canvas) {}

    /// The content of the view, as a value that another thread lays out and draws; nil unless overridden.
    ///
    /// If it is not nil, ``draw(in:)`` is not called. The property is read on the main actor whenever the view would
    /// draw. The drawing is shown when it is finished, together with the drawings of the other views in the same row of
    /// a table. A drawing is cancelled when the view asks for display again, shows another row of a table, or leaves
    /// the window.
    open var asyncDrawing: (any AsyncDrawing)? { nil }

    /// Whether the drawings of all views inside are shown together; true for the cells of tables.
    var isDrawingContainer: Bool { false }
    /// Called when the view, or a view inside this container, begins its first drawing on another thread.
    func beginsAsyncDrawing() {}

    /// Draws the content that a view shows until its ``View/asyncDrawing`` has finished for the first time; draws
    /// nothing unless overridden.
    ///
    /// Called on the main actor, so it should be quick. A view that asks for display again shows its earlier drawing
    /// until the new one has finished. A cell that shows another row shows the placeholder first.
    open func drawPlaceholder(in canvas: inout Canvas) {}

    /// Draws over the view and the views inside, in the display's grid; the bars of a scroll view.
    ///
    /// - Parameters:
    ///   - area: The cells of the view.
    ///   - clip: The cells that may be changed.
    func composeOverContent(into grid: inout CellGrid, area: CellRect, clip: CellRect) {}

    /// The position of the cursor while this is the first responder, in the view's own coordinates; the cursor is
    /// hidden if this is nil.
    open var cursor: Point? { nil }

    private func markDisplay() { window?.application?.commit.markDisplay(self) }

    func displayIfNeeded() {
        guard needsDisplay else { return }
        needsDisplay = false
        if let drawing = asyncDrawing, let transaction = window?.application?.commit.drawings {
            return beginDrawing(drawing, in: transaction)
        }
        extras?.asyncDrawing?.cancel()
        var canvas = Canvas(size: frame.size, window: takeDrawingWindow())
        draw(in: &canvas)
        show(canvas)
    }

    // MARK: Coordinates

    /// The origin of the view's coordinates, in the display's coordinates.
    private var displayOffset: Point {
        var (offset, view) = (Point.zero, self as View?)
        while let present = view {
            offset = offset + present.frame.origin - present.contentOrigin
            view = present.superview
        }
        return offset
    }

    private func convert(fromSuperview point: Point) -> Point { point - frame.origin + contentOrigin }

    /// Converts a point from another view's coordinates, or from the display's if `view` is nil, to this view's
    /// coordinates.
    ///
    /// - Complexity: O(depth).
    public func convert(_ point: Point, from view: View?) -> Point {
        (view.map { point + $0.displayOffset } ?? point) - displayOffset
    }

    /// Converts a point from this view's coordinates to another view's, or to the display's if `view` is nil.
    ///
    /// - Complexity: O(depth).
    public func convert(_ point: Point, to view: View?) -> Point {
        let place = point + displayOffset
        return view.map { place - $0.displayOffset } ?? place
    }

    /// Converts a rectangle from this view's coordinates to another view's, or to the display's if `view` is nil.
    ///
    /// - Complexity: O(depth).
    public func convert(_ rect: Rect, to view: View?) -> Rect {
        Rect(origin: convert(rect.origin, to: view), size: rect.size)
    }

    var depth: Int {
        var (depth, view) = (0, superview)
        while let present = view { (depth, view) = (depth + 1, present.superview) }
        return depth
    }
}

/// The numbers of subviews.
private enum SubviewNumber: ViewNumber {
    static func number(of view: View) -> Int { view.number }
    static func set(_ number: Int, of view: View) { view.number = number }
}

// MARK: - Borders

extension View {
    /// Whether the display shows its content line by line, as for a screen reader.
    var isLinear: Bool { window?.application?.display.abilities.isLinear ?? false }

    /// Draws the border of a sheet, an alert or a menu, where there are borders.
    func drawBox(around rect: Rect, _ style: Style, in canvas: inout Canvas) {
        if !isLinear { canvas.border(rect, theme.box, style: style) }
    }
}
