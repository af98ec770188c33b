// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Scrolls a table of a million rows, sixty times a second, from the key s to the key q: what Benchmarks/Terminals/rows
// watches.

import LoopUI
import LoopUITerminal
import RunLoops
import RunLoopsKit

@MainActor final class Rows: TableViewDataSource {
    func numberOfRows(in tableView: TableView) -> Int { 1_000_000 }

    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        let cell = tableView.dequeueCell(for: "row")
        cell.text = "\(row) \(Self.letters(of: row))"
        return cell
    }

    /// Sixty letters that have little in common with those of the rows around.
    private static func letters(of row: Int) -> String {
        var seed = UInt64(row)
        return String(
            decoding: (0..<60).map { _ in
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(ascii: "a") + UInt8(seed >> 59) % 26
            }, as: UTF8.self)
    }
}

final class Table: TableView {
    /// Seven rows a frame: each cell changes, and most of the screen.
    private(set) lazy var link = RunLoop.DisplayLink(framesPerSecond: 60, isPaused: true) { [unowned self] _ in
        contentOffset.y += 7
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        switch presses.first?.text {
        case "s": link.isPaused = false
        case "q":
            link.invalidate()
            Application.current?.terminate()
        default: super.pressesBegan(presses, with: event)
        }
    }
}

@main final class Program: ApplicationDelegate {
    private let rows = Rows()
    private let table = Table()

    func applicationDidFinishLaunching(_ application: Application) {
        table.register(TableCell.init, for: "row")
        table.dataSource = rows
        let window = Window()
        let controller = ViewController()
        controller.view = table
        window.rootViewController = controller
        window.makeKeyAndVisible()
    }

    static func main() throws {
        let program = Program()
        let application = Application(display: Terminal.standard(), delegate: program)
        try application.runUntilEnd()
        let link = program.table.link
        print("delivered \(link.delivered), skipped \(link.skipped), drawn \(application.commit.counts.frames)")
    }
}
