// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI

/// The whole screen: the list of stories, the story that was chosen, and the log of the loop.
@MainActor final class StoriesController: ViewController, TableViewDataSource, TableViewDelegate {
    private let stories: [Story]
    private let watch: TurnWatch
    private var story: Story

    private let list = TableView()
    private let heading = Heading()
    private let explanation = Label(lines: 0)
    private let stage = View()
    private let bar = StatusBar()
    private lazy var turns = TurnView(watch)

    init(_ stories: [Story], _ watch: TurnWatch) {
        self.stories = stories
        self.watch = watch
        story = stories[0]
        super.init()
        title = "Stories"
    }

    override func loadView() {
        view = StoriesView { [weak self] in self?.layOut(in: $0) }
        for part in [list, heading, explanation, stage, turns, bar] { view.addSubview(part) }
        list.register({ TableCell() }, for: "story")
        list.dataSource = self
        list.delegate = self
        list.selectedRow = 0
        stage.clipsToBounds = true
        bar.left = " Tab  next   1-9, 0  story"
        bar.right = "q  quit "
        show(story)
    }

    override func viewDidAppear() { list.becomeFirstResponder() }

    // MARK: Stories

    private func show(_ next: Story) {
        if children.first === story {
            story.view.removeFromSuperview()
            removeChild(story)
        }
        story = next
        heading.show(next)
        explanation.text = next.explanation
        stage.addSubview(next.view)
        addChild(next)
        view.setNeedsLayout()
    }

    private func choose(_ index: Int) {
        list.selectedRow = index
        if stories[index] !== story { show(stories[index]) }
    }

    /// The keys go to the story, as soon as its controls have their places.
    private func chooseByKey(_ index: Int) {
        choose(index)
        view.layoutIfNeeded()
        view.window?.focusableViews.first { $0.isInside(story.view) }?.becomeFirstResponder()
    }

    func numberOfRows(in tableView: TableView) -> Int { stories.count }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "story")
        cell.text = "\(row + 1) \(stories[row].name)"
        return cell
    }

    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {
        if let row { choose(row) }
    }

    // MARK: Keys

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            if press.text == "q" { return application?.terminate() ?? () }
            // The tenth story has the key 0.
            if let key = press.text.flatMap({ Int($0) }), (1...stories.count).contains(key == 0 ? 10 : key) {
                return chooseByKey((key == 0 ? 10 : key) - 1)
            }
        }
        super.pressesBegan(presses, with: event)
    }

    private var application: Application? { view.window?.application }

    // MARK: Layout

    /// Narrow terminals get the numbers of the stories alone.
    private func layOut(in size: Size) {
        let side = size.width >= 76 ? 20.0 : 2.0
        let log = (size.height * 0.38).rounded() + 1
        let height = max(0, size.height - 1 - log)
        let (left, width) = (side + 1, max(0, size.width - side - 2))
        list.frame = Rect(0, 0, side, height)
        heading.frame = Rect(left, 0, width, 1)
        let text = explanation.sizeThatFits(Size(width, height)).height
        explanation.frame = Rect(left, 1, width, text)
        stage.frame = Rect(left, text + 1, width, height - text - 1)
        story.view.frame = stage.bounds
        turns.frame = Rect(0, height, size.width, log)
        bar.frame = Rect(0, size.height - 1, size.width, 1)
    }
}

/// The name of the story, and the page that tells more.
private final class Heading: View {
    private var (name, page) = ("", "")

    func show(_ story: Story) {
        (name, page) = (story.name, "see \(story.page)")
        setNeedsDisplay()
    }

    override func draw(in canvas: inout Canvas) {
        canvas.write(page, at: Point(canvas.size.width - Double(page.count), 0), style: theme.secondary)
        canvas.write("\(name) ", at: .zero, style: theme.accent)
    }
}

/// A view that its controller lays out.
private final class StoriesView: View {
    private let layOut: (Size) -> Void

    init(_ layOut: @escaping (Size) -> Void) {
        self.layOut = layOut
        super.init()
    }

    override func layoutSubviews() { layOut(frame.size) }
}
