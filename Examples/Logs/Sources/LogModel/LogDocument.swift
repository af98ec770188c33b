// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// A log as it is shown: its lines, or the lines that a filter leaves, and the matches of a search.
///
/// A reader on the loader's loop finds everything; it comes here in portions, in the order of the file.
@MainActor public final class LogDocument {
    /// A pattern, and where it was found so far.
    public struct Search: Sendable {
        /// What is looked for.
        public let pattern: Pattern
        /// The first match in each line that has one.
        public private(set) var matches = OffsetList()
        /// How many bytes were searched.
        public private(set) var scanned = 0
        let number: Int

        init(_ pattern: Pattern, number: Int) {
            self.pattern = pattern
            self.number = number
        }

        mutating func append(_ matches: [Int], scanned: Int) {
            for match in matches { self.matches.append(match) }
            self.scanned = scanned
        }
    }

    /// What has changed.
    public enum Change: Hashable, Sendable {
        /// All of it.
        case everything
        /// Rows were added at the end; the last row before may have become longer.
        case rows(added: Range<Int>, changed: Int?)
        /// Nothing but how far the work is, or the matches of the search.
        case progress
    }

    /// The path, as the user gave it.
    public let path: String
    /// The file; nil if there is none.
    public private(set) var file: LogFile?
    /// Why there is none.
    public private(set) var error: LogError?
    /// How many bytes the file has.
    public private(set) var size = 0
    /// The lines that were found so far.
    public private(set) var lines = LineIndex()
    /// Leaves only the lines that contain its pattern.
    public private(set) var filter: Search?
    /// The search.
    public private(set) var search: Search?
    /// Called with each change.
    public var changed: (Change) -> Void = { _ in }
    private var reader: LogReader?
    private var searchCount = 0

    /// Opens a log.
    ///
    /// - Parameters:
    ///   - path: The file; it is awaited if there is none.
    ///   - loader: The loop that reads it.
    ///   - watches: Whether the system reports changes; else ``look()`` finds them.
    public convenience init(path: String, loader: RunLoop, watches: Bool = true) {
        self.init(path: path, loader: loader, watches: watches, portion: LogReader.portion)
    }

    /// A log that is read in portions of so many bytes.
    init(path: String, loader: RunLoop, watches: Bool, portion: Int) {
        self.path = path
        let loop = RunLoop.current
        let reader = LogReader(path, on: loader, portion: portion) { [weak self] update in
            loop.perform(in: [.common]) { MainActor.assumeIsolated { self?.take(update) } }
        }
        self.reader = reader
        reader.start(watches: watches)
    }

    /// Looks whether the file has changed.
    public func look() { reader?.look() }

    /// Ends the reading.
    public func close() { reader?.stop() }

    /// Whether all that is known of the file was read and searched.
    public var isComplete: Bool {
        [lines.scanned, filter?.scanned, search?.scanned].allSatisfy { $0 ?? size >= size }
    }

    private func take(_ update: LogUpdate) {
        switch update {
        case .opened(let file, let size):
            // With its size, or the document would look complete until the first portion comes.
            (self.file, error, self.size, lines) = (file, nil, size, LineIndex())
            filter = filter.map { Search($0.pattern, number: $0.number) }
            search = search.map { Search($0.pattern, number: $0.number) }
            changed(.everything)
        case .failed(let error):
            self.error = error
            changed(.progress)
        case .lines(let ends, let scanned, let size):
            self.size = size
            if scanned > lines.scanned { grow { $0.lines.append(ends, scanned: scanned) } } else { changed(.progress) }
        case .matches(let number, let matches, let scanned):
            if number == filter?.number {
                grow { $0.filter?.append(matches, scanned: scanned) }
            } else if number == search?.number {
                search?.append(matches, scanned: scanned)
                changed(.progress)
            }
        }
    }

    private func grow(_ body: (LogDocument) -> Void) {
        let old = rowCount
        let last = old > 0 && lines.hasOpenLine ? old - 1 : nil
        body(self)
        changed(.rows(added: old..<rowCount, changed: last))
    }

    // MARK: Patterns

    /// Shows only the lines that contain a pattern; all of them if `nil`.
    public func setFilter(_ pattern: Pattern?) {
        filter = replace(filter, pattern)
        changed(.everything)
    }

    /// Looks for a pattern in all lines; for none if `nil`.
    public func setSearch(_ pattern: Pattern?) {
        search = replace(search, pattern)
        changed(.progress)
    }

    private func replace(_ old: Search?, _ pattern: Pattern?) -> Search? {
        if let old { reader?.search(nil, number: old.number) }
        searchCount += 1
        reader?.search(pattern, number: searchCount)
        return pattern.map { Search($0, number: searchCount) }
    }

    // MARK: Rows

    /// How many lines are shown.
    public var rowCount: Int { filter?.matches.count ?? lines.count }

    /// The number of the line that a row shows, from 0.
    ///
    /// - Complexity: O(log n).
    public func line(ofRow row: Int) -> Int { filter.map { lines.line(at: $0.matches[row]) } ?? row }

    /// The row of a line, or of the next line that is shown; `rowCount` behind the last one.
    ///
    /// - Complexity: O(log n).
    public func row(ofLine line: Int) -> Int {
        guard let filter else { return min(line, lines.count) }
        return line < lines.count ? filter.matches.count(below: lines.range(of: line).lowerBound) : filter.matches.count
    }

    /// The bytes of a row without its line break, no more than a limit.
    public func bytes(ofRow row: Int, limit: Int) -> [UInt8] {
        var range = lines.range(of: line(ofRow: row))
        range = range.lowerBound..<min(range.upperBound, range.lowerBound + limit)
        var bytes = file?.bytes(range) ?? []
        if bytes.last == 10 { bytes.removeLast() }
        if bytes.last == 13 { bytes.removeLast() }
        return bytes
    }

    /// Where a search goes on.
    public enum Step: Hashable, Sendable {
        /// At a row; maybe behind the end, or before the beginning, of the file.
        case row(Int, isWrapped: Bool)
        /// That is not known yet.
        case unknown
        /// Nowhere.
        case none
    }

    /// The next row with a match, or the one before.
    ///
    /// - Parameters:
    ///   - row: Where to begin, not itself looked at; -1 for the row before the first.
    ///   - backwards: Whether towards the beginning.
    /// - Complexity: O(log n), times the matches that the filter hides on the way.
    public func step(from row: Int, backwards: Bool) -> Step {
        guard let search else { return .none }
        let matches = search.matches
        let last = matches.count - 1
        let place = (0..<rowCount).contains(row) ? lines.range(of: line(ofRow: row)) : 0..<0
        let start = matches.count(below: backwards ? place.lowerBound : place.upperBound)
        func find(_ positions: some Sequence<Int>) -> Int? { positions.lazy.compactMap(self.row(ofMatch:)).first }
        if backwards, !isComplete, search.scanned < place.lowerBound { return .unknown }
        let ahead = backwards ? stride(from: start - 1, through: 0, by: -1) : stride(from: start, through: last, by: 1)
        if let row = find(ahead) {
            return .row(row, isWrapped: false)
        }
        if !isComplete { return .unknown }
        let rest = backwards ? stride(from: last, through: start, by: -1) : stride(from: 0, through: start - 1, by: 1)
        return find(rest).map { .row($0, isWrapped: true) } ?? .none
    }

    /// The row with a match of the search; nil if the filter hides it.
    private func row(ofMatch position: Int) -> Int? {
        guard let search else { return nil }
        let line = lines.line(at: search.matches[position])
        guard let filter else { return line }
        let row = self.row(ofLine: line)
        return row < filter.matches.count && lines.range(of: line).contains(filter.matches[row]) ? row : nil
    }
}
