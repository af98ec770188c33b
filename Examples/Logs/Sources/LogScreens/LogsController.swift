// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import LogModel
public import LoopUI
public import RunLoops

/// The program's screen: the files as segments if there are several, the log, and a line for its state or for input.
@MainActor public final class LogsController: ViewController {
    private let logs: [LogView]
    private let segments: SegmentedControl
    private let content = View()
    private let status = StatusBar()
    private let prompt = Prompt()
    private var shown = 0
    var log: LogView { logs[shown] }

    /// A screen for some files.
    ///
    /// - Parameters:
    ///   - paths: The files.
    ///   - loader: The loop that reads them.
    ///   - remote: The logs of servers, which follow the files.
    ///   - watches: Whether the system reports changes.
    /// - Precondition: there is a log.
    public init(paths: [String], remote: [RemoteLog] = [], loader: RunLoop, watches: Bool = true) {
        precondition(!paths.isEmpty || !remote.isEmpty, "There is no log to show.")
        func document(_ path: String) -> LogDocument { LogDocument(path: path, loader: loader, watches: watches) }
        logs = paths.map { LogView(document($0)) } + remote.map { LogView(document($0.path), remote: $0) }
        segments = SegmentedControl(logs.map { String($0.name.split(separator: "/").last ?? "") })
        super.init()
    }

    /// The log that is shown.
    public var document: LogDocument { log.document }

    public override func loadView() {
        segments.selectedIndex = 0
        segments.isHidden = logs.count == 1
        segments.addAction(for: .valueChanged) { [weak self] in self?.show($0.selectedIndex ?? 0) }
        prompt.isHidden = true
        for (index, log) in logs.enumerated() {
            log.isHidden = index != 0
            log.changed = { [weak self] in self?.updateStatus() }
            content.addSubview(log)
        }
        let stack = StackView(.vertical)
        stack.addArrangedSubview(segments)
        stack.addArrangedSubview(content, flex: 1)
        stack.addArrangedSubview(prompt)
        stack.addArrangedSubview(status)
        view = stack
    }

    public override func viewDidLayoutSubviews() {
        for log in logs { log.frame = content.bounds }
    }

    public override func viewDidAppear() { show(0) }

    private func show(_ index: Int) {
        shown = min(max(0, index), logs.count - 1)
        for (index, log) in logs.enumerated() { log.isHidden = index != shown }
        segments.selectedIndex = shown
        log.table.becomeFirstResponder()
        updateStatus()
    }

    // MARK: State

    private func updateStatus() {
        let (document, table) = (log.document, log.table)
        title = log.name
        var left = log.name
        if let error = document.error { left += ": \(error)" }
        status.left = left
        let searches: [(String, LogDocument.Search?)] = [("&", document.filter), ("/", document.search)]
        var notes = searches.compactMap { sign, search in
            search.map { "\(sign)\($0.pattern.text) \($0.matches.count.grouped)" }
        }
        if log.isWrapped { notes.append("wrapped") }
        if log.column > 0 { notes.append("column \(log.column + 1)") }
        let scanned = ([document.lines.scanned] + searches.compactMap { $1?.scanned }).min() ?? 0
        if !document.isComplete, document.size > 0 { notes.append("\(scanned * 100 / document.size)% read") }
        status.center = notes.joined(separator: "  ")
        let rows = document.rowCount
        let marked = table.selectedRow.flatMap { table.visibleRows.contains($0) ? $0 : nil }
        let row = min(marked ?? table.visibleRows.upperBound - 1, rows - 1)
        let place = rows == 0 ? "no lines" : "\((row + 1).grouped) of \(rows.grouped)  \((row + 1) * 100 / rows)%"
        let follow = table.follows ? (table.isAtEnd ? "  follow" : "  follow paused") : ""
        status.right = "\(place)  \(document.size.asBytes)\(follow)"
    }

    // MARK: Keys

    public override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let unused = presses.filter { !handle($0) }
        if !unused.isEmpty { super.pressesBegan(unused, with: event) }
    }

    private func handle(_ press: Press) -> Bool {
        if !prompt.isHidden {
            // A touch elsewhere has taken the keys from it, and then the key is a command.
            let isAsking = prompt.isAsking
            if !isAsking || press.key == .escape { closePrompt() }
            if isAsking { return press.key == .escape }
        }
        let width = max(1, Int(log.table.frame.size.width / 2))
        switch (press.key, press.modifiers.subtracting(.shift)) {
        case (.left, []): log.scroll(columns: -width)
        case (.right, []): log.scroll(columns: width)
        case (.tab, []):
            show((shown + (press.modifiers.contains(.shift) ? logs.count - 1 : 1)) % logs.count)
        case (.escape, []): log.leaveSearch()
        case (.character(let character), []): return handle(character)
        default: return false
        }
        return true
    }

    private func handle(_ character: Character) -> Bool {
        switch character {
        case "q": Application.current?.send(.quit, to: self)
        case "j": log.move(1)
        case "k": log.move(-1)
        case " ": log.page(1)
        case "b": log.page(-1)
        case "g": log.goToStart()
        case "G": log.goToEnd()
        case "f": log.toggleFollow()
        case "n": log.searchNext(backwards: false)
        case "N": log.searchNext(backwards: true)
        case "#": log.showsNumbers.toggle()
        case "/": ask("/") { $0.search(Pattern($1)) }
        case "&": ask("&") { $0.filter(Pattern($1)) }
        case ":": ask(":") { log, text in if let number = Int(text) { log.go(toLine: number - 1) } }
        case "?": present(HelpController())
        case "1"..."9":
            guard let number = character.wholeNumberValue, number <= logs.count else { return false }
            show(number - 1)
        default: return false
        }
        return true
    }

    private func ask(_ sign: String, _ answer: @escaping (LogView, String) -> Void) {
        prompt.ask(sign) { [weak self] text in
            guard let self else { return }
            closePrompt()
            answer(log, text)
        }
        status.isHidden = true
    }

    private func closePrompt() {
        prompt.isHidden = true
        status.isHidden = false
        log.table.becomeFirstResponder()
    }
}
