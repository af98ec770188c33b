// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops

// MARK: The user

/// Shows a view, changes it, and does what a user does with it.
@MainActor private func use<Shown: View>(_ view: Shown, _ change: @MainActor (Shown) -> Void) throws {
    try TestApplication.with(size: Size(20, 6)) { app in
        let root = View()
        view.frame = Rect(0, 0, 20, 5)
        root.addSubview(view)
        app.show(root)
        change(view)
        app.settle()
        _ = (view.sizeThatFits(Size(20, 5)), view.sizeThatFits(Size(.infinity, .infinity)))
        view.sizeToFit()
        app.settle()
        app.tap(at: Point(1, 1))
        app.press(.tab, .down, .end, .pageUp, .right, .character("x"), .backspace, .enter)
        app.send(.wheel(WheelInput(Point(1, 2), at: Point(1, 1))), .resized(Size(12, 4)))
        app.send(.pointer(PointerInput(.began, at: Point(2, 2))))
        for step in 0..<3 { app.send(.pointer(PointerInput(.moved, at: Point(Double(step), 3)))) }
        app.send(.pointer(PointerInput(.ended, at: Point(2, 0))))
        app.advance(by: .seconds(2))
        _ = (root.accessibilityDescription, view.convert(Point(1, 1), to: nil), app.text)
    }
}

/// A case that sets a property of a view.
private func setter<Shown: View, Value: Ended>(
    _ name: String, of make: @escaping @autoclosure @MainActor () -> Shown,
    _ set: @escaping @MainActor (Shown, Value) -> Void
) -> EndCase {
    EndCase("LoopUI." + name) { (value: Value) in try use(make()) { set($0, value) } }
}

/// Draws in the first cells alone: without optimization, millions of cells take a minute.
private func drawCorner(of canvas: inout Canvas) {
    let bounds = canvas.bounds
    let first = Rect(bounds.minX, bounds.minY, min(bounds.width, 100), min(bounds.height, 100))
    canvas.fill(first, with: "x", style: .plain)
    canvas.border(first)
}

/// A view that draws in its corner.
private final class Full: View {
    override func draw(in canvas: inout Canvas) { drawCorner(of: &canvas) }
}

@MainActor private func labels() -> [View] { ["a", "long label", "b"].map { Label($0) } }

@MainActor private final class Lines: TableViewDataSource {
    static let shared = Lines()
    func numberOfRows(in tableView: TableView) -> Int { 30 }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = TableCell()
        cell.text = "row \(row)"
        return cell
    }
}

@MainActor private func table() -> TableView {
    let table = TableView()
    table.dataSource = Lines.shared
    return table
}

/// A view that is laid out elsewhere, with a layout of the case's.
private final class LaidOut: View {
    private struct Drawing: AsyncDrawing {
        let result: AsyncLayout
        func layout(in size: Size) -> AsyncLayout { result }
        func draw(in canvas: inout Canvas, layout: AsyncLayout, context: AsyncDrawingContext) {}
    }

    private let result: AsyncLayout

    init(_ result: AsyncLayout) {
        self.result = result
        super.init()
        addSubview(Full())
    }

    override var asyncDrawing: (any AsyncDrawing)? { Drawing(result: result) }
}

@MainActor private func layOut(_ result: AsyncLayout) throws {
    try use(StackView(.vertical, [LaidOut(result)])) { _ in }
}

@MainActor private func scroll() -> ScrollView {
    let scroll = ScrollView()
    scroll.addSubview(Full(frame: Rect(0, 0, 30, 30)))
    scroll.contentSize = Size(30, 30)
    return scroll
}

@MainActor private func field() -> TextField {
    let field = TextField(placeholder: "text")
    field.text = "some text"
    field.keepsHistory = true
    return field
}

@MainActor private func recognized<Kind: GestureRecognizer>(_ kind: Kind, _ change: @MainActor (Kind) -> Void) throws {
    let view = View()
    view.addGestureRecognizer(kind)
    try use(view) { _ in change(kind) }
}

private func gesture<Kind: GestureRecognizer, Value: Ended>(
    _ name: String, _ kind: Kind.Type, _ set: @escaping @MainActor (Kind, Value) -> Void
) -> EndCase {
    EndCase("LoopUI." + name) { (value: Value) in try recognized(kind.init()) { set($0, value) } }
}

// MARK: Views

@MainActor let viewCases: [EndCase] = [
    setter("View.frame", of: Full()) { (view, value: Rect) in view.frame = value },
    setter("View.bounds", of: Full()) { (view, value: Rect) in view.bounds = value },
    setter("View.alpha", of: Full()) { (view, value: Double) in view.alpha = value },
    EndCase("LoopUI.View.init(frame:)") { (value: Rect) in
        try use(View()) { view in
            view.addSubview(Full(frame: value))
            view.addSubview(Button("b").framed(value))
            view.addSubview(field().framed(value))
            view.addSubview(SegmentedControl(["a", "b"]).framed(value))
            view.addSubview(ProgressView(progress: 0.5).framed(value))
            view.addSubview(Label("some words", lines: 0).framed(value))
            view.addSubview(Switch("s").framed(value))
            view.addSubview(StatusBar(left: "l", center: "c", right: "r").framed(value))
            view.addSubview(SplitView(.horizontal, Full(), Full()).framed(value))
            view.addSubview(StackView(.vertical, labels()).framed(value))
            view.addSubview(table().framed(value))
            view.addSubview(Spinner("s").framed(value))
        }
    },
    EndCase("LoopUI.Window.init(frame:)") { (value: Rect) in
        try TestApplication.with { app in
            let window = Window(frame: value)
            window.addSubview(Full(frame: value))
            window.layoutIfNeeded()
            window.makeKeyAndVisible()
            app.settle()
        }
    },
    setter("Label.numberOfLines", of: Label("some words in a label")) { (view, value: Int) in
        view.numberOfLines = value
    },
    EndCase("LoopUI.Label.init(_:lines:style:)") { (value: Int) in
        try use(Label("some words\nin it", lines: value)) { _ in }
    },
    EndCase("LoopUI.AsyncLayout.init(size:frames:)") { (value: Rect) in
        try layOut(AsyncLayout(size: value.size, frames: [value]))
    },
    EndCase("LoopUI.AsyncLayout.size") { (value: Rect) in
        var layout = AsyncLayout(size: .zero)
        layout.size = value.size
        try layOut(layout)
    },
    EndCase("LoopUI.AsyncLayout.frames") { (value: Rect) in
        var layout = AsyncLayout(size: .zero)
        layout.frames = [value]
        try layOut(layout)
    },
    setter("TableView.rowsAhead", of: table()) { (view, value: Int) in view.rowsAhead = value },
    EndCase("LoopUITesting.VirtualDrawingExecutor.init(workers:duration:)") { (value: Int) in
        try TestApplication.with { app in
            VirtualDrawingExecutor(workers: value).execute {}
            app.settle()
        }
    },
    EndCase("LoopUITesting.VirtualDrawingExecutor.workers") { (value: Int) in
        try TestApplication.with { app in
            app.drawing.workers = value
            app.drawing.execute {}
            app.settle()
        }
    },
    setter("ProgressView.progress", of: ProgressView()) { (view, value: Double) in view.progress = value },
    EndCase("LoopUI.ProgressView.init(progress:)") { (value: Double) in try use(ProgressView(progress: value)) { _ in }
    },
    setter("ScrollView.bounds", of: scroll()) { (view, value: Rect) in view.bounds = value },
    setter("ScrollView.contentInset", of: scroll()) { (view, value: Insets) in view.contentInset = value },
    setter("ScrollView.contentOffset", of: scroll()) { (view, value: Point) in view.contentOffset = value },
    setter("ScrollView.contentSize", of: scroll()) { (view, value: Size) in view.contentSize = value },
    setter("ScrollView.frame", of: scroll()) { (view, value: Rect) in view.frame = value },
    setter("ScrollView.pointsPerNotch", of: scroll()) { (view, value: Double) in view.pointsPerNotch = value },
    EndCase("LoopUI.ScrollView.init(frame:)") { (value: Rect) in
        try use(View()) { view in
            let scroll = ScrollView(frame: value)
            scroll.contentSize = value.size
            view.addSubview(scroll)
        }
    },
    EndCase("LoopUI.ScrollView.DecelerationRate.init(rawValue:)") { (value: Double) in
        try use(scroll()) { $0.decelerationRate = ScrollView.DecelerationRate(rawValue: value) }
    },
    setter("SegmentedControl.selectedIndex", of: SegmentedControl(["a", "b"])) { (view, value: Int?) in
        view.selectedIndex = value
    },
    setter("SplitView.minimumLength", of: SplitView(.horizontal, Full(), Full())) { (view, value: Double) in
        view.minimumLength = value
    },
    setter("SplitView.ratio", of: SplitView(.vertical, Full(), Full())) { (view, value: Double) in
        view.ratio = value
    },
    EndCase("LoopUI.SplitView.init(_:_:_:ratio:)") { (value: Double) in
        try use(SplitView(.horizontal, Full(), Full(), ratio: value)) { _ in }
    },
    setter("StackView.padding", of: StackView(.horizontal, labels())) { (view, value: Insets) in
        view.padding = value
    },
    setter("StackView.spacing", of: StackView(.horizontal, labels())) { (view, value: Double) in
        view.spacing = value
    },
    EndCase("LoopUI.StackView.init(_:spacing:_:)") { (value: Double) in
        let stack = StackView(.vertical, spacing: value, labels())
        stack.addArrangedSubview(Full(), flex: value)
        try use(stack) { $0.setFlex(value, for: $0.arrangedSubviews[0]) }
    },
    setter("TableColumn.width", of: table()) { (view, value: Double?) in
        view.columns = [TableColumn("a"), TableColumn("b")]
        view.columns[0].width = value
    },
    setter("TableColumn.init(_:width:alignment:isSortable:)", of: table()) { (view, value: Double?) in
        view.columns = [TableColumn("a", width: value), TableColumn("b", width: value)]
    },
    setter("TableView.SortOrder.column", of: table()) { (view, value: Int) in
        view.columns = [TableColumn("a")]
        var order = TableView.SortOrder(column: 0)
        order.column = value
        view.sortOrder = order
    },
    setter("TableView.SortOrder.init(column:isAscending:)", of: table()) { (view, value: Int) in
        view.columns = [TableColumn("a")]
        view.sortOrder = TableView.SortOrder(column: value)
    },
    setter("TableView.rowHeight", of: table()) { (view, value: Double?) in view.rowHeight = value },
    setter("TableView.selectedRow", of: table()) { (view, value: Int?) in view.selectedRow = value },
    setter("TextField.historyLimit", of: field()) { (view, value: Int) in view.historyLimit = value },
    setter("TextField.maximumLength", of: field()) { (view, value: Int) in view.maximumLength = value },
    setter("TextField.selectedRange", of: field()) { (view, value: Range<Int>) in view.selectedRange = value },
    EndCase("LoopUI.ViewController.preferredContentSize") { (value: Size) in
        try use(View()) { view in
            for style in [PresentationStyle.sheet, .alert, .fullScreen] {
                let controller = ViewController()
                controller.preferredContentSize = value
                view.superview?.controller?.present(controller, style: style)
            }
        }
    },
    gesture("LongPressGestureRecognizer.allowableMovement", LongPressGestureRecognizer.self) { (kind, value: Double) in
        kind.allowableMovement = value
    },
    gesture("LongPressGestureRecognizer.minimumPressDuration", LongPressGestureRecognizer.self) {
        (kind, value: Duration) in
        kind.minimumPressDuration = value
    },
    gesture("LongPressGestureRecognizer.numberOfTouchesRequired", LongPressGestureRecognizer.self) {
        (kind, value: Int) in
        kind.numberOfTouchesRequired = value
    },
    gesture("PanGestureRecognizer.maximumNumberOfTouches", PanGestureRecognizer.self) { (kind, value: Int) in
        kind.maximumNumberOfTouches = value
    },
    gesture("PanGestureRecognizer.minimumNumberOfTouches", PanGestureRecognizer.self) { (kind, value: Int) in
        kind.minimumNumberOfTouches = value
    },
    gesture("PanGestureRecognizer.threshold", PanGestureRecognizer.self) { (kind, value: Double) in
        kind.threshold = value
    },
    gesture("PinchGestureRecognizer.threshold", PinchGestureRecognizer.self) { (kind, value: Double) in
        kind.threshold = value
    },
    gesture("PinchGestureRecognizer.scale", PinchGestureRecognizer.self) { (kind, value: Double) in kind.scale = value
    },
    gesture("SwipeGestureRecognizer.maximumDuration", SwipeGestureRecognizer.self) { (kind, value: Duration) in
        kind.maximumDuration = value
    },
    gesture("SwipeGestureRecognizer.minimumDistance", SwipeGestureRecognizer.self) { (kind, value: Double) in
        kind.minimumDistance = value
    },
    gesture("SwipeGestureRecognizer.numberOfTouchesRequired", SwipeGestureRecognizer.self) { (kind, value: Int) in
        kind.numberOfTouchesRequired = value
    },
    gesture("TapGestureRecognizer.allowableMovement", TapGestureRecognizer.self) { (kind, value: Double) in
        kind.allowableMovement = value
    },
    gesture("TapGestureRecognizer.numberOfTapsRequired", TapGestureRecognizer.self) { (kind, value: Int) in
        kind.numberOfTapsRequired = value
    },
    gesture("TapGestureRecognizer.numberOfTouchesRequired", TapGestureRecognizer.self) { (kind, value: Int) in
        kind.numberOfTouchesRequired = value
    },
]

extension View {
    fileprivate func framed(_ frame: Rect) -> Self {
        self.frame = frame
        return self
    }
}

// MARK: Values

private func geometry<Value: Ended>(_ name: String, _ make: @escaping @MainActor (Value) -> Rect) -> EndCase {
    EndCase("LoopUI." + name) { (value: Value) in
        let rect = make(value)
        _ = (rect.center, rect.isEmpty, rect.union(rect.moved(by: rect.origin)), rect.intersection(Rect(1, 1, 2, 2)))
        _ = (
            rect.contains(rect.center), rect.inset(by: Insets(all: rect.minX)), CellRect(rect).union(CellRect(rect)),
            rect.hashValue
        )
        var canvas = Canvas(size: Size(9, 3))
        canvas.fill(rect, style: .plain)
        canvas.border(rect)
        canvas.write("text", at: rect.origin, width: rect.width)
        canvas.draw(Picture(width: 2, height: 2, bytes: Array(repeating: 255, count: 16)), in: rect)
        canvas.draw(Picture(width: 2, height: 2, bytes: Array(repeating: 255, count: 16)), in: rect, style: .pixels)
        _ = canvas.grid.text
    }
}

@MainActor let geometryCases: [EndCase] = [
    geometry("Point.init(_:_:)") { (value: Double) in Rect(origin: Point(value, value), size: Size(1, 1)) },
    geometry("Point.init(x:y:)") { (value: Double) in Rect(origin: Point(x: value, y: 1), size: Size(1, 1)) },
    geometry("Point.x") { (value: Double) in
        var point = Point.zero
        point.x = value
        return Rect(origin: point, size: Size(2, 2))
    },
    geometry("Point.y") { (value: Double) in
        var point = Point.zero
        point.y = value
        return Rect(origin: point, size: Size(2, 2))
    },
    geometry("Size.init(_:_:)") { (value: Double) in Rect(size: Size(value, value)) },
    geometry("Size.init(width:height:)") { (value: Double) in Rect(size: Size(width: value, height: 1)) },
    geometry("Size.width") { (value: Double) in
        var rect = Rect(1, 1, 2, 2)
        rect.size.width = value
        return rect
    },
    geometry("Size.height") { (value: Double) in
        var rect = Rect(1, 1, 2, 2)
        rect.size.height = value
        return rect
    },
    geometry("Rect.init(_:_:_:_:)") { (value: Double) in Rect(value, value, value, value) },
    geometry("Rect.init(x:y:width:height:)") { (value: Double) in Rect(x: 1, y: 1, width: value, height: value) },
    geometry("Rect.init(origin:size:)") { (value: Size) in Rect(origin: Point(1, 1), size: value) },
    geometry("Rect.origin") { (value: Point) in
        var rect = Rect(1, 1, 2, 2)
        rect.origin = value
        return rect
    },
    geometry("Rect.size") { (value: Size) in
        var rect = Rect(1, 1, 2, 2)
        rect.size = value
        return rect
    },
    geometry("Insets.init(all:)") { (value: Double) in Rect(0, 0, 4, 4).inset(by: Insets(all: value)) },
    geometry("Insets.init(top:left:bottom:right:)") { (value: Double) in
        Rect(0, 0, 4, 4).inset(by: Insets(top: value, left: 1, bottom: value, right: 1))
    },
    geometry("Insets.top") { (value: Double) in inset { $0.top = value } },
    geometry("Insets.left") { (value: Double) in inset { $0.left = value } },
    geometry("Insets.bottom") { (value: Double) in inset { $0.bottom = value } },
    geometry("Insets.right") { (value: Double) in inset { $0.right = value } },
    EndCase("LoopUI.Canvas.init(size:)") { (value: Size) in
        var canvas = Canvas(size: value)
        drawCorner(of: &canvas)
        canvas.write("text", at: .zero)
    },
    EndCase("LoopUI.CellGrid.init(width:height:filledWith:)") { (value: Int) in
        _ = CellGrid(width: value, height: 1).bounds
    },
    EndCase("LoopUI.CellGrid.subscript(_:_:)") { (value: Int) in
        var grid = CellGrid(width: 2, height: 2)
        grid[value, 0] = .blank
    },
    EndCase("LoopUI.CellRect.init(_:)") { (value: Rect) in cover(CellRect(value)) },
    EndCase("LoopUI.CellRect.init(x:y:width:height:)") { (value: Int) in
        cover(CellRect(x: value, y: 1, width: 1, height: value))
        cover(CellRect(x: value, y: value, width: value, height: value))
    },
    EndCase("LoopUI.CellRect.columns") { (value: Range<Int>) in
        var rect = CellRect(x: 0, y: 0, width: 1, height: 1)
        rect.columns = value
        cover(rect)
    },
    EndCase("LoopUI.CellRect.rows") { (value: Range<Int>) in
        var rect = CellRect(x: 0, y: 0, width: 1, height: 1)
        rect.rows = value
        cover(rect)
    },
    EndCase("LoopUI.Picture.init(width:height:bytes:)") { (value: Int) in
        _ = Picture(width: 1, height: 1, bytes: [1, 2, 3, 4]).scaled(width: min(value, 4), height: 1)
        _ = Picture(width: value, height: value, bytes: [])
    },
    EndCase("LoopUI.PlacedPicture.init(_:in:)") { (value: CellRect) in place(value) { PlacedPicture($0, in: $1) } },
    EndCase("LoopUI.PlacedPicture.area") { (value: CellRect) in
        place(value) {
            var placed = PlacedPicture($0, in: CellRect(x: 0, y: 0, width: 1, height: 1))
            placed.area = $1
            return placed
        }
    },
]

private func inset(_ change: (inout Insets) -> Void) -> Rect {
    var insets = Insets.zero
    change(&insets)
    return Rect(0, 0, 4, 4).inset(by: insets)
}

private func cover(_ rect: CellRect) {
    var grid = CellGrid(width: 4, height: 4)
    grid.fill(rect, with: .blank)
    grid.lay(CellGrid(width: 2, height: 2), x: rect.columns.lowerBound, y: rect.rows.upperBound, clip: rect)
    _ = (rect.isEmpty, rect.union(grid.bounds), rect.clipped(to: grid.bounds), rect.hashValue)
}

private func place(_ area: CellRect, _ make: (Picture, CellRect) -> PlacedPicture) {
    let placed = make(Picture(width: 1, height: 1, bytes: [1, 2, 3, 4]), area)
    let grid = CellGrid(width: 4, height: 4)
    _ = (placed.parts(in: grid), placed.isSeen(x: 0, y: 0, in: grid), placed.hashValue)
}

// MARK: Displays and input

private func input(_ name: String, _ make: @escaping @MainActor (Double) -> RawInput) -> EndCase {
    EndCase("LoopUI." + name) { (value: Double) in try send(make(value)) }
}

@MainActor private func send(_ input: RawInput) throws {
    try use(scroll()) { $0.window?.application?.push(input) }
}

private func bits<Value: Ended & FixedWidthInteger>(
    _ name: String, _ make: @escaping @MainActor (Value) -> some Hashable
) -> EndCase {
    EndCase("LoopUI." + name) { (value: Value) in _ = make(value).hashValue }
}

private func shown(_ name: String, _ change: @escaping @MainActor (inout DisplayAbilities, Double) -> Void) -> EndCase {
    EndCase("LoopUI." + name) { (value: Double) in
        try TestApplication.with(size: Size(9, 4)) { app in
            change(&app.display.abilities, value)
            let image = ImageView(picture: Picture(width: 2, height: 2, bytes: Array(repeating: 255, count: 16)))
            app.show(StackView(.vertical, [image]))
            image.frame = Rect(0, 0, 5, 3)
            app.settle()
        }
    }
}

private func counted(_ name: String, _ set: @escaping @MainActor (inout CommitTransaction.Counts, Int) -> Void)
    -> EndCase
{
    EndCase("LoopUI." + name) { (value: Int) in
        try TestApplication.with { app in
            var counts = app.application.commit.counts
            set(&counts, value)
            _ = counts.hashValue
        }
    }
}

@MainActor let displayCases: [EndCase] = [
    input("PointerInput.position") { value in
        var input = PointerInput(.began, at: .zero)
        input.position = Point(value, value)
        return .pointer(input)
    },
    EndCase("LoopUI.PointerInput.identifier") { (value: Int) in
        var input = PointerInput(.began, at: Point(1, 1))
        input.identifier = value
        try send(.pointer(input))
    },
    EndCase("LoopUI.PointerInput.init(_:at:identifier:modifiers:)") { (value: Int) in
        try send(.pointer(PointerInput(.began, at: Point(1, 1), identifier: value)))
    },
    EndCase("LoopUI.PointerInput.init(_:at:button:modifiers:)") { (value: Int) in
        try send(.pointer(PointerInput(.began, at: Point(1, 1), button: value)))
    },
    input("WheelInput.init(_:at:modifiers:)") { .wheel(WheelInput(Point($0, $0), at: Point(1, 1))) },
    input("WheelInput.notches") { value in
        var input = WheelInput(.zero, at: Point(1, 1))
        input.notches = Point(value, value)
        return .wheel(input)
    },
    input("WheelInput.position") { value in
        var input = WheelInput(Point(0, 1), at: .zero)
        input.position = Point(value, value)
        return .wheel(input)
    },
    bits("ButtonMask.init(rawValue:)") { ButtonMask(rawValue: $0) },
    bits("Control.Events.init(rawValue:)") { Control.Events(rawValue: $0) },
    bits("KeyModifiers.init(rawValue:)") { KeyModifiers(rawValue: $0) },
    bits("Style.Attributes.init(rawValue:)") { Style.Attributes(rawValue: $0) },
    bits("SwipeGestureRecognizer.Direction.init(rawValue:)") { SwipeGestureRecognizer.Direction(rawValue: $0) },
    bits("DisplayAbilities.Colors.init(rawValue:)") { DisplayAbilities.Colors(rawValue: $0) },
    shown("DisplayAbilities.pointAspect") { $0.pointAspect = $1 },
    counted("CommitTransaction.Counts.constraintUpdates") { $0.constraintUpdates = $1 },
    counted("CommitTransaction.Counts.missedFrames") { $0.missedFrames = $1 },
    counted("CommitTransaction.Counts.displays") { $0.displays = $1 },
    counted("CommitTransaction.Counts.frames") { $0.frames = $1 },
    counted("CommitTransaction.Counts.layouts") { $0.layouts = $1 },
    counted("CommitTransaction.Counts.refusals") { $0.refusals = $1 },
    EndCase("LoopUI.CommitTransaction.frameInterval") { (value: Duration) in
        try TestApplication.with { app in
            let label = Label("a")
            app.show(label)
            app.application.commit.frameInterval = value
            for text in ["b", "c"] {
                label.text = text
                app.advance(by: .milliseconds(20))
            }
        }
    },
    EndCase("LoopUI.Frame.init(cells:pictures:cursor:title:changedRows:)") { (value: Range<Int>?) in
        _ = Frame(cells: CellGrid(width: 1, height: 1), changedRows: value).hashValue
    },
    EndCase("LoopUI.Frame.changedRows") { (value: Range<Int>?) in
        var frame = Frame(cells: CellGrid(width: 1, height: 1))
        frame.changedRows = value
        _ = frame.hashValue
    },
    EndCase("LoopUI.Frame.cursor") { (value: Point?) in
        var frame = Frame(cells: CellGrid(width: 1, height: 1))
        frame.cursor = value
        _ = frame.hashValue
    },
    EndCase("LoopUITesting.SyntheticDisplay.init(size:)") { (value: Size) in
        try TestApplication.with(size: value) { app in
            app.show(Full())
            app.settle()
        }
        // Without optimization a frame of 33 million cells takes a minute.
        let size = Size(min(value.width, 500), min(value.height, 500))
        try TestApplication.with { app in app.send(.resized(size)) }
    },
    EndCase("LoopUITesting.TouchScript.Step.delay") { (value: Duration) in
        try TestApplication.with { app in
            app.show(scroll())
            app.advance(by: value)
            app.tap(at: Point(1, 1))
            app.advance(by: value)
        }
    },
]
