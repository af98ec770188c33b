// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsEvents

/// What a reader has found out.
enum LogUpdate: Sendable {
    /// A file was opened, or begins anew: what came before is not true any more.
    case opened(LogFile, size: Int)
    /// There is no file to read.
    case failed(LogError)
    /// The ends of lines up to an offset, of so many bytes in all.
    case lines([Int], scanned: Int, size: Int)
    /// The lines up to an offset in which the search of that number has found its pattern.
    case matches(Int, [Int], scanned: Int)
}

/// Reads a file on the loop of a loader thread, portion by portion, and reports what it has found.
///
/// Each turn of the loop reads one portion for the index of lines, and one for each search. So a new search, or the end
/// of one, waits for a portion at most.
final class LogReader: @unchecked Sendable {
    // All that changes belongs to the loader's loop: the calls from outside perform there.
    private let path: String
    private let loop: RunLoop
    private let deliver: @Sendable (LogUpdate) -> Void
    private var file: LogFile?
    private var size = 0
    private var lines = LineScan()
    private var searches: [Int: MatchScan] = [:]
    /// Watches the directory, for another file under the name.
    private var names: FileWatch?
    /// Watches the file, for other contents.
    private var contents: FileWatch?
    private var isScheduled = false
    private let buffer: UnsafeMutableRawBufferPointer

    /// Large enough for the disk, and short enough for a key.
    static let portion = 1 << 20
    /// The first portion is what the first screen waits for.
    private var firstPortion: Int { min(1 << 16, buffer.count) }

    init(
        _ path: String, on loop: RunLoop, portion: Int = portion, deliver: @escaping @Sendable (LogUpdate) -> Void
    ) {
        self.path = path
        self.loop = loop
        self.deliver = deliver
        buffer = .allocate(byteCount: portion, alignment: 16)
    }

    deinit { buffer.deallocate() }

    // MARK: Any thread

    /// Opens the file, and looks at it again whenever it changes.
    ///
    /// - Parameter watches: Whether the system reports changes; else ``look()`` has to be called.
    func start(watches: Bool) {
        perform { reader in
            // The watch comes first, so that nothing happens unseen in between.
            if watches { reader.watch() }
            reader.open()
        }
    }

    /// Looks for a pattern in every line, also in the lines to come; for none any more if `nil`.
    func search(_ pattern: Pattern?, number: Int) {
        perform { reader in
            reader.searches[number] = pattern.map(MatchScan.init)
            reader.schedule()
        }
    }

    /// Looks whether the file has grown, was cut or was replaced.
    func look() { perform { $0.lookAgain() } }

    /// Ends the reading.
    func stop() {
        perform { reader in
            reader.names?.invalidate()
            reader.contents?.invalidate()
            reader.searches = [:]
            reader.file = nil
        }
    }

    private func perform(_ body: @escaping @Sendable (LogReader) -> Void) {
        loop.perform(in: [.common]) { [weak self] in
            if let self { body(self) }
        }
    }

    // MARK: The loader's loop

    private func open() {
        do throws(LogError) {
            let file = try LogFile(path)
            self.file = file
            contents?.remove(path)
            // A refusal leaves the file without its watch: it is shown, and does not grow.
            try? contents?.insert(path)
            begin(file)
        } catch {
            file = nil
            deliver(.failed(error))
        }
    }

    private func begin(_ file: LogFile) {
        lines = LineScan()
        searches = searches.mapValues { MatchScan($0.pattern) }
        size = file.size
        deliver(.opened(file, size: size))
        schedule()
    }

    private func lookAgain() {
        let there = LogFile.identity(at: path)
        guard let file, there == nil || there == file.identity else {
            if there != nil || file == nil { open() }
            return
        }
        size = file.size
        if size < lines.position { begin(file) } else { schedule() }
    }

    private func watch() {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        names = watch([directory], for: [.created, .removed, .moved])
        contents = watch([], for: [.modified])
    }

    /// A watch in the loop; nil if the user has no more of them, and then the file is shown and does not grow.
    private func watch(_ paths: [String], for changes: FileWatch.Changes) -> FileWatch? {
        guard let watch = try? FileWatch(paths, for: changes, handler: { [weak self] _, _ in self?.lookAgain() }),
            (try? loop.add(watch, in: .common)) == true
        else { return nil }
        return watch
    }

    private func schedule() {
        if isScheduled || !hasWork { return }
        isScheduled = true
        perform { reader in
            reader.isScheduled = false
            reader.readPortions()
            reader.schedule()
        }
    }

    private var hasWork: Bool {
        file != nil && (lines.position < size || searches.values.contains { $0.scanned < lines.position })
    }

    private func readPortions() {
        guard let file else { return }
        if lines.position < size {
            let portion = lines.position == 0 ? firstPortion : buffer.count
            let wanted = min(portion, size - lines.position)
            guard let bytes = read(file, lines.position, wanted) else { return }
            let ends = lines.scan(bytes)
            deliver(.lines(ends, scanned: lines.position, size: size))
        }
        for (number, var scan) in searches where scan.scanned < lines.position {
            let wanted = min(buffer.count, lines.position - scan.position)
            guard let bytes = read(file, scan.position, wanted) else { return }
            let matches = scan.scan(bytes)
            searches[number] = scan
            deliver(.matches(number, matches, scanned: scan.scanned))
        }
    }

    /// Reads a portion; nil if there is less, because the file was cut or the system refuses.
    private func read(_ file: LogFile, _ offset: Int, _ count: Int) -> UnsafeMutableRawBufferPointer? {
        let portion = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        if file.read(into: portion, at: offset) == count { return portion }
        if file.size < offset + count {
            lookAgain()
        } else {
            // The next change of the file is another try.
            self.file = nil
            deliver(.failed(LogError("cannot be read")))
        }
        return nil
    }
}
