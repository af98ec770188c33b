// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// Turns frames into the bytes that write only the changes since the previous frame.
///
/// A value, without a descriptor and without time. It keeps the cells that the terminal shows, the position of the
/// cursor and the style of the next letter.
struct Encoder {
    /// The abilities of the terminal; after a change, the next frame is written whole.
    var abilities = DisplayAbilities() { didSet { if abilities != oldValue { forget() } } }
    /// Whether the terminal can delay showing an update until all of it was received.
    var hasSynchronizedUpdates = false

    /// Whether frames are a part of the screen, below what was printed, of which only the cursor's place is known.
    var isPart = false

    private var shown: CellGrid?
    private var title: String?
    private var isCursorShown = false
    /// The position of the cursor; `nil` if it is not certain.
    private var place: (x: Int, y: Int)?
    /// The row of the cursor in the last frame.
    private var row = 0
    /// The lengths of the rows above the cursor, and the column of the cursor, after which the terminal may have wrapped
    /// them anew.
    private var wrapped: [Int] = []
    /// The cursor of the last frame.
    private var lastCursor: Point?
    private var pen = Pen()
    /// The number of the link of the next letter; 0 without one, as between two frames.
    private var link: UInt32 = 0
    /// Whether a link was ever written, so that the terminal may have one that was cut.
    private(set) var hasWrittenLinks = false
    private var bytes: [UInt8] = []
    // Asked for with each cell, and made in another module.
    private let blank = Cell.blank

    /// The maximum number of characters of a title that are written, which is more than any terminal shows.
    private static let maxTitleLength = 256
    /// The maximum number of bytes of an update that is written without delaying its display; of a longer update the
    /// terminal might show only a part.
    private static let most = 512

    /// Forgets the terminal's screen, so that the next frame is written whole.
    mutating func forget() {
        if isPart, let shown {
            wrapped = (0..<row).map { shown.length(row: $0) } + [place?.x ?? shown.width - 1]
        }
        shown = nil
        title = nil
        isCursorShown = false
        place = nil
        pen = Pen()
    }

    /// Forgets the part, which the program no longer changes; the next frame begins at the cursor.
    mutating func startAnew() {
        forget()
        (row, wrapped) = (0, [])
    }

    /// The bytes that move the cursor below the part.
    var closing: String {
        guard isPart, let shown else { return "" }
        return String(repeating: "\n", count: max(0, shown.height - 1 - row)) + "\r\n"
    }

    /// Returns the bytes that write lines above the part, which moves down.
    mutating func encode(above lines: [String], width: Int) -> [UInt8] {
        let old = shown
        bytes.removeAll(keepingCapacity: true)
        beginPart(width: width, height: 0)
        // A line that is longer than a row goes on in the next one.
        write("\u{1B}[?7h")
        for line in lines {
            bytes += abilities.hasUnicode ? Array(line.utf8) : line.utf8.filter { $0 < 0x80 }
            write("\r\n")
        }
        write("\u{1B}[?7l")
        let above = bytes
        shown = nil
        guard let old else { return above }
        return above + encode(Frame(cells: old, cursor: lastCursor))
    }

    /// Returns the cells that the terminal shows before a frame; `nil` if the frame is written whole.
    func shown(before frame: Frame) -> CellGrid? {
        shown.flatMap { $0.width == frame.cells.width && $0.height == frame.cells.height ? $0 : nil }
    }

    /// Returns the bytes that make the terminal show the frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - pictures: Bytes to write after the cells, which must not change the cursor and the style.
    /// - Complexity: O(cells of the rows that may have changed) to compare, O(changed cells) to write.
    mutating func encode(_ frame: Frame, pictures: [UInt8] = []) -> [UInt8] {
        bytes.removeAll(keepingCapacity: true)
        let new = frame.cells
        let isWhole = shown.map { $0.width != new.width || $0.height != new.height } ?? true
        if isWhole { beginWhole(new) }
        var old = isWhole ? CellGrid(width: new.width, height: new.height) : shown ?? new
        shown = nil
        var rows = 0..<new.height
        if !isWhole, let changed = frame.changedRows { rows = rows.clamped(to: changed) }
        for y in rows where !new.hasRow(y, of: old) {
            encodeRow(y, new, old)
            old.takeRow(y, from: new)
        }
        set(link: 0)
        // Not the new grid itself: the application would have to copy what is kept here before it draws on.
        shown = old
        bytes += pictures
        // The title of a terminal of which the program has a part is the shell's.
        if !isPart, let text = frame.title, text != title { encode(title: text) }
        encode(cursor: frame.cursor, in: new)
        // The beginning of the part is the one place that is the same after the terminal has wrapped rows anew, or cut them.
        if isPart, !isCursorShown { move(to: 0, 0) }
        guard hasSynchronizedUpdates, isWhole || bytes.count > Self.most else { return bytes }
        return Array("\u{1B}[?2026h".utf8) + bytes + Array("\u{1B}[?2026l".utf8)
    }

    private mutating func beginWhole(_ new: CellGrid) {
        if isPart { return beginPart(width: new.width, height: new.height) }
        // The cursor does not run over the screen while it is painted.
        endCutLink()
        write("\u{1B}[?25l\u{1B}[m\u{1B}[2J")
        isCursorShown = false
        pen = Pen()
        place = nil
    }

    /// Erases the old part and makes room for the new one, in which the cursor is at the beginning.
    private mutating func beginPart(width: Int, height: Int) {
        endCutLink()
        write("\u{1B}[?25l\u{1B}[?7l\u{1B}[m")
        let width = max(1, width)
        let rewrapped = wrapped.dropLast().reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        Cursor.up(wrapped.last.map { rewrapped + $0 / width } ?? row, into: &bytes)
        write("\r\u{1B}[J")
        for _ in 1..<max(1, height) { bytes.append(0x0A) }
        Cursor.up(height - 1, into: &bytes)
        (row, wrapped, place, pen, isCursorShown) = (0, [], (0, 0), Pen(), false)
    }

    // MARK: Rows

    private mutating func encodeRow(_ y: Int, _ new: CellGrid, _ old: CellGrid) {
        let width = new.width
        let start = y * width
        // Plain blanks at the end are erased at once, where that is shorter.
        var blankFrom = width
        while blankFrom > 0, new.cells[start + blankFrom - 1] == blank { blankFrom -= 1 }
        var x = 0
        while x < width {
            if new.cells[start + x] == old.cells[start + x] {
                x += 1
                continue
            }
            // A wide character is written from its left half, whichever half has changed.
            if new.cells[start + x].glyph == .continuation, x > 0 { x -= 1 }
            if x >= blankFrom, Self.changes(x..<width, start, new, old) > 3 {
                move(to: x, y)
                set(link: 0)
                pen.set(blank, abilities.colors, into: &bytes)
                write("\u{1B}[K")
                return
            }
            let next = x + 1
            let isWide = next < width && new.cells[start + next].glyph == .continuation
            bridge(to: x, y, new)
            put(new.cells[start + x], x: x, y: y, isWide: isWide, width: width)
            x = isWide ? next + 1 : next
        }
    }

    private static func changes(_ columns: Range<Int>, _ start: Int, _ new: CellGrid, _ old: CellGrid) -> Int {
        columns.count { new.cells[start + $0] != old.cells[start + $0] }
    }

    /// Moves the cursor to a position; if it is shorter, writes the few unchanged cells before the position again
    /// instead.
    private mutating func bridge(to x: Int, _ y: Int, _ grid: CellGrid) {
        if let place, place.y == y, place.x < x, x - place.x <= 4 {
            let gap = grid.cells[(y * grid.width + place.x)..<(y * grid.width + x)]
            let isCheap = gap.allSatisfy { cell in
                (0x20..<0x7F).contains(cell.glyph.bits) && link(of: cell) == link && pen.shows(cell, abilities.colors)
            }
            if isCheap, x - place.x <= Cursor.bytes(from: place, to: (x, y)) {
                for cell in gap { bytes.append(UInt8(cell.glyph.bits)) }
                self.place = (x, y)
                return
            }
        }
        move(to: x, y)
    }

    private mutating func move(to x: Int, _ y: Int) {
        if let place, place == (x, y) { return }
        if isPart {
            Cursor.step(from: place, row: row, to: (x, y), into: &bytes)
        } else {
            Cursor.move(from: place, to: (x, y), into: &bytes)
        }
        (place, row) = ((x, y), y)
    }

    private mutating func put(_ cell: Cell, x: Int, y: Int, isWide: Bool, width: Int) {
        set(link: link(of: cell))
        pen.set(cell, abilities.colors, into: &bytes)
        let columns = isWide ? 2 : 1
        if isWide, cell.glyph.isComposed {
            // Terminals that draw it in one cell would leave what stands in the other one.
            write("  ")
            place = x + columns < width ? (x + columns, y) : nil
            move(to: x, y)
        }
        let isSure = GlyphBytes.append(cell.glyph, columns: columns, isUnicode: abilities.hasUnicode, to: &bytes)
        // Behind the last column, and where the terminal may see another width, the place is not relied upon.
        place = isSure && x + columns < width ? (x + columns, y) : nil
    }

    // MARK: Links

    private func link(of cell: Cell) -> UInt32 { abilities.hasLinks ? cell.style.linkNumber : 0 }

    private mutating func set(link number: UInt32) {
        if number == link { return }
        LinkBytes.append(number, to: &bytes)
        (link, hasWrittenLinks) = (number, true)
    }

    /// Ends the link of a frame of which the terminal has not received the end.
    private mutating func endCutLink() {
        if hasWrittenLinks { bytes += Array(LinkBytes.end.utf8) }
        link = 0
    }

    // MARK: What is not a cell

    private mutating func encode(title text: String) {
        title = text
        write("\u{1B}]2;")
        let shown = text.shown(limit: Self.maxTitleLength)
        bytes += abilities.hasUnicode ? Array(shown.utf8) : shown.utf8.filter { $0 < 0x80 }
        write("\u{1B}\\")
    }

    private mutating func encode(cursor: Point?, in grid: CellGrid) {
        lastCursor = cursor
        let area = CellRect(x: 0, y: 0, width: grid.width, height: grid.height)
        if let cursor, let x = Int(exactly: cursor.x.rounded()), let y = Int(exactly: cursor.y.rounded()),
            area.columns.contains(x), area.rows.contains(y)
        {
            move(to: x, y)
            if !isCursorShown { write("\u{1B}[?25h") }
            isCursorShown = true
        } else if isCursorShown {
            write("\u{1B}[?25l")
            isCursorShown = false
        }
    }

    private mutating func write(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension CellGrid {
    /// The number of cells of a row up to the last one that is not blank.
    fileprivate func length(row: Int) -> Int {
        (cells[row * width..<(row + 1) * width].lastIndex { $0 != .blank }).map { $0 - row * width + 1 } ?? 0
    }
}
