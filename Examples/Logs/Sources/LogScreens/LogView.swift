// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoadingPictures
internal import LogModel
internal import LoopUI

/// A log: a table of its lines, and beside it the picture that the marked line names.
final class LogView: View, TableViewDataSource, TableViewDelegate {
    let document: LogDocument
    /// Where the log comes from, if it is no file of the user's.
    private let remote: RemoteLog?
    let table = LogTable()
    let picture = ImageView()
    private let stack: StackView
    /// Called when the status bar has to say something else.
    var changed: () -> Void = {}
    /// What the user has asked for and that is not known yet.
    private var wish: Wish?
    /// The last search went around the end of the file.
    private(set) var isWrapped = false

    private enum Wish {
        /// The line, when the filter has come so far.
        case line(Int)
        /// The next match.
        case match(from: Int, backwards: Bool)
        /// The last line.
        case end
    }

    /// Whether numbers stand in front of the lines.
    var showsNumbers = true { didSet { table.reloadData() } }
    /// The digits of the greatest number.
    private var digits = 4 { didSet { if digits != oldValue, showsNumbers { table.reloadData() } } }
    /// The first column that is shown.
    private(set) var column = 0 { didSet { if column != oldValue { columnChanged() } } }

    private func columnChanged() {
        table.reloadData()
        changed()
    }

    init(_ document: LogDocument, remote: RemoteLog? = nil) {
        self.document = document
        self.remote = remote
        stack = StackView(.horizontal, spacing: 1)
        super.init()
        stack.addArrangedSubview(table, flex: 3)
        stack.addArrangedSubview(picture, flex: 2)
        picture.isHidden = true
        addSubview(stack)
        table.register(LogCell.init, for: "line")
        table.dataSource = self
        table.delegate = self
        document.changed = { [weak self] in self?.take($0) }
    }

    override func layoutSubviews() { stack.frame = bounds }

    /// The path or the address, as the user gave it.
    var name: String { remote.map { "\($0.address)" } ?? document.path }

    // MARK: What the document says

    private func take(_ change: LogDocument.Change) {
        switch change {
        case .everything:
            table.selectedRow = nil
            table.reloadData()
            showPicture()
        case .rows(let added, let changed):
            let stays = table.follows && table.isAtEnd && table.selectedRow == table.numberOfRows - 1
            if !added.isEmpty { table.insertRows(added) }
            if let changed { table.reloadRows(changed..<changed + 1) }
            if stays, !added.isEmpty {
                table.selectedRow = document.rowCount - 1
                // The mark has moved without the user.
                showPicture()
            }
            digits = max(4, String(document.lines.count).count)
        case .progress: break
        }
        fulfil()
        changed()
    }

    private func fulfil() {
        switch wish {
        case nil: return
        case .line(let line):
            guard document.rowCount > 0 else { break }
            let row = document.row(ofLine: line)
            if row < document.rowCount || document.isComplete { return mark(min(row, document.rowCount - 1), .middle) }
        case .match(let row, let backwards):
            switch document.step(from: row, backwards: backwards) {
            case .row(let row, let isWrapped):
                mark(row, .middle)
                self.isWrapped = isWrapped
            case .none: wish = nil
            case .unknown: return
            }
        case .end:
            if document.rowCount == 0 { break }
            mark(document.rowCount - 1, .bottom)
            if !document.isComplete { wish = .end }
        }
        if document.isComplete { wish = nil }
    }

    // MARK: What the user wants

    /// The row that commands begin at: the marked one, or the first in view.
    private var row: Int { table.selectedRow ?? table.visibleRows.lowerBound }

    /// Marks a row and brings it into view.
    private func mark(_ row: Int, _ position: TableView.ScrollPosition) {
        wish = nil
        isWrapped = false
        table.selectedRow = row
        if !table.visibleRows.contains(row) || position == .bottom { table.scrollToRow(row, at: position) }
        showPicture()
        changed()
    }

    func goToStart() {
        table.follows = false
        if document.rowCount > 0 { mark(0, .top) }
    }

    func goToEnd() {
        wish = .end
        fulfil()
    }

    /// Marks the line of that number, from 0, or the last one.
    func go(toLine line: Int) {
        table.follows = false
        wish = .line(max(0, line))
        fulfil()
        changed()
    }

    func toggleFollow() {
        table.follows.toggle()
        if table.follows { goToEnd() }
        changed()
    }

    /// Scrolls sideways, by parts of the view.
    func scroll(columns: Int) { column = max(0, column + columns) }

    /// Moves the mark by lines.
    func move(_ lines: Int) {
        guard document.rowCount > 0 else { return }
        let row = min(max(0, row + lines), document.rowCount - 1)
        mark(row, .nearest)
        if row < document.rowCount - 1 { table.follows = false }
    }

    /// Moves the mark by pages.
    func page(_ direction: Int) { move(direction * max(1, Int(table.frame.size.height) - 1)) }

    /// Shows the lines with a pattern only, and stays where it is as far as that line is still there.
    func filter(_ pattern: Pattern?) {
        let line = row < document.rowCount ? document.line(ofRow: row) : 0
        document.setFilter(pattern)
        wish = .line(line)
        fulfil()
        changed()
    }

    /// Looks for a pattern, from the row on.
    func search(_ pattern: Pattern?) {
        // The row itself may be the first match.
        let start = row - 1
        document.setSearch(pattern)
        table.reloadRows(table.visibleRows)
        if pattern != nil { step(from: start, backwards: false) }
        changed()
    }

    /// Takes back what is under way: the wait for a match, or else the search, or else the filter.
    func leaveSearch() {
        if wish != nil {
            wish = nil
            changed()
        } else if document.search != nil {
            search(nil)
        } else if document.filter != nil {
            filter(nil)
        }
    }

    func searchNext(backwards: Bool) { step(from: row, backwards: backwards) }

    private func step(from row: Int, backwards: Bool) {
        table.follows = false
        isWrapped = false
        wish = .match(from: row, backwards: backwards)
        fulfil()
        changed()
    }

    // MARK: Table

    func numberOfRows(in tableView: TableView) -> Int { document.rowCount }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(LogCell.self, for: "line")
        if showsNumbers {
            let number = String(document.line(ofRow: row) + 1)
            cell.number = String(repeating: " ", count: max(0, digits - number.count)) + number + " "
        }
        // The last column is the scroll bar's.
        let width = max(1, Int(table.frame.size.width) - cell.number.count - 1)
        cell.text = text(ofRow: row, from: column, width: width)
        cell.pattern = document.search?.pattern ?? document.filter?.pattern
        return cell
    }

    private func text(ofRow row: Int, from column: Int, width: Int) -> String {
        let limit = LineText.byteLimit(cells: column + width)
        return LineText.text(document.bytes(ofRow: row, limit: limit), from: column, width: width)
    }

    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {
        wish = nil
        isWrapped = false
        if let row, row < document.rowCount - 1 { table.follows = false }
        showPicture()
        changed()
    }

    func scrollViewDidScroll(_ scrollView: ScrollView) { changed() }

    // MARK: Picture

    private var shownPath: String?
    /// The picture of a server that is on its way.
    private var pictureLoad: PictureLoad?

    /// Loads the picture that the marked line names, if there is one.
    private func showPicture() {
        let own = document.path.lastIndex(of: "/").map { String(document.path[...$0]) } ?? ""
        let directory = remote?.address.directory ?? own
        let line = table.selectedRow.map { text(ofRow: $0, from: 0, width: 4000) } ?? ""
        let path = PortableMap.paths(in: line, directory: directory).first
        if path == shownPath { return }
        shownPath = path
        pictureLoad = nil
        picture.cancelLoad()
        guard let path else {
            picture.isHidden = true
            return
        }
        let whenLoaded: @MainActor (Result<Picture, any Error>) -> Void = { [weak self] in
            self?.picture.isHidden = (try? $0.get()) == nil
        }
        if let remote {
            // In the default mode only, as the other pictures.
            pictureLoad = PictureLoad(
                path, into: picture, loader: remote.loader,
                decode: { PortableMap.preview(try PortableMap.picture($0)) }, completion: whenLoaded)
        } else {
            picture.load(completion: whenLoaded) { try PortableMap.preview(path) }
        }
    }
}

/// A table whose rows are cut to its width.
final class LogTable: TableView {
    private var width = 0.0

    override func layoutSubviews() {
        if frame.size.width != width {
            width = frame.size.width
            reloadData()
        }
        super.layoutSubviews()
    }
}
