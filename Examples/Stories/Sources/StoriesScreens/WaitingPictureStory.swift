// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// Pictures that are ready while the user scrolls, and seen when the user does not.
final class WaitingPictureStory: Story, TableViewDataSource, TableViewDelegate {
    private let list = TableView()
    private let counts = Label()
    private let report = Label(lines: 0)
    /// How many pictures were asked for, made on the thread, and set.
    private(set) var (asked, made, shown) = (0, 0, 0)
    private var beforeDrag: Int?

    init() {
        super.init(
            "A waiting picture",
            "Rows that come into view ask a thread for pictures, which are set in the default mode only. "
                + "While you drag, pictures are made and none is set; then they come at once.",
            page: "Modes")
    }

    override func loadView() {
        list.register({ PictureCell() }, for: "picture")
        list.dataSource = self
        list.delegate = self
        list.rowHeight = 3
        list.allowsSelection = false
        let side = StackView(.vertical, [counts, report])
        let stack = StackView(.horizontal, spacing: 2)
        stack.addArrangedSubview(list, flex: 1)
        stack.addArrangedSubview(side, flex: 1)
        stack.padding.top = 1
        view = stack
        report.text = "Drag the list."
        showCounts()
    }

    private func showCounts() { counts.text = "\(asked) asked, \(made) made, \(shown) set" }

    // MARK: Pictures

    func numberOfRows(in tableView: TableView) -> Int { 500 }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(PictureCell.self, for: "picture")
        cell.text = "picture \(row)"
        cell.image.picture = nil
        asked += 1
        let loop = application.loop
        let note = Note { [weak self] in self?.pictureWasMade() }
        let whenSet: (Result<Picture, any Error>) -> Void = { [weak self] _ in self?.pictureWasSet() }
        cell.image.load(completion: whenSet) {
            let picture = Julia(row).picture(width: 24, height: 6)
            loop.perform(in: .common) { MainActor.assumeIsolated { note.body() } }
            return picture
        }
        showCounts()
        return cell
    }

    private func pictureWasMade() {
        made += 1
        showCounts()
    }

    private func pictureWasSet() {
        shown += 1
        showCounts()
    }

    // MARK: The drag

    func scrollViewWillBeginDragging(_ scrollView: ScrollView) {
        if beforeDrag == nil { beforeDrag = shown }
        report.text = "The loop tracks the drag ..."
    }

    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) {
        if !willDecelerate { endDrag() }
    }

    func scrollViewDidEndDecelerating(_ scrollView: ScrollView) { if !scrollView.isDragging { endDrag() } }

    private func endDrag() {
        guard let beforeDrag else { return }
        report.text = "Set meanwhile: \(shown - beforeDrag)"
        self.beforeDrag = nil
    }
}

/// A closure of the main actor that another thread carries along.
@MainActor private final class Note {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}

/// A row with a picture beside its text.
private final class PictureCell: TableCell {
    let image = ImageView()

    override init() {
        super.init()
        addSubview(image)
    }

    override func layoutSubviews() { image.frame = Rect(12, 0, max(0, frame.width - 12), frame.height) }
}

/// A picture that takes some work: how fast points of the plane flee under z² + c.
private struct Julia {
    private let c: (re: Double, im: Double)

    init(_ number: Int) {
        // Along the edge of the set, where the pictures are richest.
        let (x, y) = (Double(number % 7) / 7, Double(number % 11) / 11)
        c = (-0.8 + 0.5 * x, 0.6 - 0.5 * y)
    }

    func picture(width: Int, height: Int) -> Picture {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                let steps = steps(
                    from: 3 * (Double(x) + 0.5) / Double(width) - 1.5, 2 * (Double(y) + 0.5) / Double(height) - 1)
                bytes += [UInt8(truncatingIfNeeded: steps * 7), UInt8(steps), UInt8(255 - steps), 255]
            }
        }
        return Picture(width: width, height: height, bytes: bytes)
    }

    private func steps(from re: Double, _ im: Double) -> Int {
        var (re, im) = (re, im)
        for step in 0..<255 {
            if re * re + im * im > 4 { return step }
            (re, im) = (re * re - im * im + c.re, 2 * re * im + c.im)
        }
        return 255
    }
}
