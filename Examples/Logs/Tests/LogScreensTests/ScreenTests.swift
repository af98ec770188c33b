// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Loading
import LoopUI
import LoopUITesting
import RunLoops
import Serving
import Testing

@testable import LogModel
@testable import LogScreens

/// A directory of a test, gone at its end.
final class TestDirectory {
    let path: String
    private var names: Set<String> = []

    init() {
        var template = Array("/tmp/logs-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template)) + "/"
    }

    deinit {
        for name in names { unlink(path + name) }
        rmdir(path)
    }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], appends: Bool = false) -> String {
        names.insert(name)
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : O_TRUNC)
        let descriptor = open(path + name, flags, 0o600)
        var written = 0
        while written < bytes.count {
            written += bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
        close(descriptor)
        return path + name
    }

    @discardableResult
    func write(_ name: String, _ text: String, appends: Bool = false) -> String {
        write(name, Array(text.utf8), appends: appends)
    }
}

@MainActor @Suite(.serialized) struct ScreenTests {
    let directory = TestDirectory()

    /// Runs a test on the screen of some logs; the loader works on the test's own loop, so that nothing is left to time.
    private func with(
        _ paths: [String], size: Size = Size(40, 8), _ body: (TestApplication, LogsController) throws -> Void
    ) throws {
        try TestApplication.with(size: size) { app in
            let controller = LogsController(paths: paths, loader: .current, watches: false)
            app.show(controller)
            settle(app, controller)
            try body(app, controller)
        }
    }

    /// Lets the loader come to its end.
    private func settle(_ app: TestApplication, _ controller: LogsController) {
        repeat { app.settle() } while !controller.document.isComplete
        app.settle()
    }

    private func rows(_ app: TestApplication) -> [String] {
        app.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { row in
            // Without the scroll bar.
            var row = String(row)
            while let last = row.last, " ▐▝▗".contains(last) { row.removeLast() }
            return row
        }
    }

    /// All rows but the state, which has a path that changes.
    private func lines(_ app: TestApplication) -> [String] { Array(rows(app).dropLast()) }

    private func status(_ app: TestApplication) -> String { rows(app).last ?? "" }

    private func numbered(_ count: Int) -> String { (1...count).map { "line \($0)\n" }.joined() }

    @Test func `The first lines, their numbers and the status line are shown`() throws {
        try with([directory.write("a.log", numbered(3))]) { app, _ in
            #expect(lines(app) == ["   1 line 1", "   2 line 2", "   3 line 3", "", "", "", ""])
            #expect(status(app).hasSuffix("3 of 3  100%  21 B"))
            app.type("#")
            #expect(lines(app).first == "line 1")
        }
    }

    @Test func `Escapes, binary bytes and wide characters are shown safely, and a long line is read only in part`()
        throws
    {
        var bytes = Array("\u{1B}[31mred\u{1B}[0m \u{1B}]0;title\u{7}x\n".utf8)
        bytes += [0xFF, 0xFE, 0x00, 0x41, 10]
        bytes += Array("a\tb\n日本語\u{202E}x\r\n".utf8)
        bytes += [UInt8](repeating: 0x7A, count: 1 << 20) + [10]
        let path = directory.write("a.log", bytes)
        try with([path], size: Size(24, 7)) { app, controller in
            #expect(
                lines(app) == [
                    "   1 red ^[]0;title^Gx", "   2 \u{FFFD}\u{FFFD}^@A", "   3 a       b", "   4 日本語\u{FFFD}x",
                    "   5 " + String(repeating: "z", count: 18), "",
                ])
            // Of the long line, no more was read than what is seen needs.
            let read = controller.document.file?.bytesRead ?? 0
            #expect(read < bytes.count + 40_000)
            app.press(.right)
            #expect(lines(app)[0] == "   1 le^Gx")
            #expect(lines(app)[3].isEmpty || lines(app)[3] == "   4")
        }
    }

    @Test func `Keys scroll to the end, to the start, to a line, and by pages`() throws {
        try with([directory.write("a.log", numbered(100))]) { app, _ in
            app.type("G")
            #expect(lines(app).last == " 100 line 100")
            #expect(status(app).contains("100 of 100  100%"))
            app.type("b")
            #expect(status(app).contains("94 of 100"))
            app.type("g")
            #expect(lines(app).first == "   1 line 1")
            app.type("jj ")
            #expect(status(app).contains("9 of 100"))
            app.type(":50")
            app.press(.enter)
            #expect(status(app).contains("50 of 100"))
        }
    }

    @Test func `The keys n and N move to the next and the previous match and wrap around, and Escape ends the search`()
        throws
    {
        try with([directory.write("a.log", numbered(100))]) { app, controller in
            app.type("/LINE")
            app.press(.enter)
            settle(app, controller)
            #expect(controller.document.search?.matches.count == 0)
            app.type("/line 9")
            app.press(.enter)
            settle(app, controller)
            #expect(status(app).contains("9 of 100"))
            app.type("n")
            #expect(status(app).contains("90 of 100"))
            app.type("NN")
            #expect(status(app).contains("99 of 100"))
            app.press(.escape)
            #expect(controller.document.search == nil)
        }
    }

    @Test func `A filter hides other lines, keeps the marked line and applies to appended lines`() throws {
        let path = directory.write("a.log", numbered(100))
        try with([path]) { app, controller in
            app.type(":55")
            app.press(.enter)
            app.type("&5")
            app.press(.enter)
            settle(app, controller)
            #expect(controller.document.rowCount == 19)
            #expect(status(app).contains("11 of 19"))
            #expect(lines(app).allSatisfy { $0.contains("5") })
            directory.write("a.log", "no\nyes 5", appends: true)
            controller.document.look()
            settle(app, controller)
            #expect(controller.document.rowCount == 20)
            app.type("G")
            #expect(lines(app).last == " 102 yes 5")
            app.press(.escape)
            settle(app, controller)
            #expect(controller.document.rowCount == 102)
            #expect(status(app).contains("102 of 102"))
        }
    }

    @Test func `Follow mode shows appended lines and pauses when the user scrolls`() throws {
        let path = directory.write("a.log", numbered(20))
        try with([path]) { app, controller in
            app.type("f")
            #expect(status(app).hasSuffix("follow"))
            for number in 21...30 {
                directory.write("a.log", "line \(number)\n", appends: true)
                controller.document.look()
                settle(app, controller)
                #expect(lines(app).last == "  \(number) line \(number)")
            }
            app.send(.wheel(WheelInput(Point(0, -1), at: Point(2, 2))))
            #expect(status(app).hasSuffix("follow paused"))
            let seen = lines(app)
            directory.write("a.log", "more\n", appends: true)
            controller.document.look()
            settle(app, controller)
            #expect(lines(app) == seen)
            app.press(.up)
            #expect(!status(app).contains("follow"))
            // A line that grows is drawn anew.
            app.type("f")
            for part in ["half", " and half"] {
                directory.write("a.log", part, appends: true)
                controller.document.look()
                settle(app, controller)
            }
            #expect(lines(app).last == "  32 half and half")
        }
    }

    @Test func `A file that is cut or replaced is shown from its beginning`() throws {
        let path = directory.write("a.log", numbered(50))
        try with([path]) { app, controller in
            app.type("G")
            directory.write("a.log", "anew\n")
            controller.document.look()
            settle(app, controller)
            #expect(lines(app) == ["   1 anew"] + Array(repeating: "", count: 6))
            unlink(path)
            directory.write("a.log", "another\n")
            controller.document.look()
            settle(app, controller)
            #expect(lines(app).first == "   1 another")
        }
    }

    @Test func `Several files are shown as segments and are chosen by key and by mouse`() throws {
        let paths = [directory.write("one.log", "in one\n"), directory.write("two.log", "in two\n")]
        try with(paths) { app, controller in
            #expect(rows(app)[0].contains("one.log") && rows(app)[0].contains("two.log"))
            #expect(rows(app)[1] == "   1 in one")
            app.press(.tab)
            #expect(rows(app)[1] == "   1 in two")
            app.type("1")
            #expect(rows(app)[1] == "   1 in one")
            let column = rows(app)[0].range(of: "two.log")
            app.tap(at: Point(Double(column ?? 12), 0))
            settle(app, controller)
            #expect(rows(app)[1] == "   1 in two")
        }
    }

    @Test func `A tap marks a line, and the wheel and a drag scroll`() throws {
        try with([directory.write("a.log", numbered(100))]) { app, _ in
            app.tap(at: Point(8, 3))
            #expect(status(app).contains("4 of 100"))
            app.send(.wheel(WheelInput(Point(0, 1), at: Point(8, 3))))
            #expect(lines(app).first == "   4 line 4")
            app.display.abilities.reducesMotion = true
            app.play(.drag(from: Point(8, 6), to: Point(8, 1), lasting: .seconds(3)))
            app.advance(by: .seconds(5))
            #expect(lines(app).first == "   9 line 9")
        }
    }

    @Test func `The picture named in the marked line is shown`() throws {
        var pixels = Array("P6\n# a comment\n2 2\n255\n".utf8)
        pixels += [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
        directory.write("x.ppm", pixels)
        let path = directory.write("a.log", "none\nwrote x.ppm\nwrote missing.ppm\n")
        try with([path]) { app, controller in
            let pictures: @MainActor () -> Bool = { app.text.contains("▀") }
            app.press(.down, .down)
            // The picture comes from a thread of its own.
            while !pictures() { app.settle() }
            app.press(.up)
            #expect(!pictures())
            app.type("G")
            app.settle()
            #expect(!pictures())
        }
    }

    @Test func `The input line closes on Escape and when it loses the focus`() throws {
        try with([directory.write("a.log", numbered(20))]) { app, controller in
            app.type("/abc")
            #expect(status(app) == "/abc")
            app.press(.escape)
            #expect(status(app).contains("of 20"))
            #expect(controller.document.search == nil)
            app.type("&x")
            app.press(.tab)
            app.type("j")
            #expect(status(app).contains("2 of 20"))
            #expect(controller.document.filter == nil)
            // What was entered before comes back.
            app.type("/line 1")
            app.press(.enter)
            app.type("/")
            app.press(.up)
            #expect(status(app) == "/line 1")
        }
    }

    @Test func `A wider display shows more of each line`() throws {
        let text = String(repeating: "0123456789", count: 10)
        try with([directory.write("a.log", text)], size: Size(20, 4)) { app, _ in
            #expect(lines(app)[0] == "   1 " + text.prefix(14))
            app.display.resize(to: Size(50, 4))
            app.settle()
            #expect(lines(app)[0] == "   1 " + text.prefix(44))
        }
    }

    @Test func `A log of a million lines reads and creates only the visible rows`() throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24_000_000)
        for number in 0..<1_000_000 {
            bytes += "entry ".utf8
            bytes += String(number).utf8
            bytes += number % 1000 == 7 ? " special\n".utf8 : " usual\n".utf8
        }
        try with([directory.write("a.log", bytes)], size: Size(60, 20)) { app, controller in
            let (document, table) = (controller.document, controller.log.table)
            guard let file = document.file else { throw LogError("no file") }
            @MainActor func read(_ body: @MainActor () -> Void) -> Int {
                let before = file.bytesRead
                body()
                settle(app, controller)
                return file.bytesRead - before
            }
            // Once for the index; what the screens have read is little.
            #expect(file.bytesRead - bytes.count < 200_000)
            #expect(document.lines.count == 1_000_000)
            #expect(read { app.type("G") } < 20 * 6000)
            #expect(lines(app).last == "1000000 entry 999999 usual")
            #expect(read { app.type("g") } < 20 * 6000)
            let searched = read {
                app.type("/special")
                app.press(.enter)
            }
            #expect(searched >= bytes.count && searched < bytes.count + 400_000)
            #expect(document.search?.matches.count == 1000)
            #expect(status(app).contains("8 of 1,000,000"))
            let filtered = read {
                app.type("&special")
                app.press(.enter)
            }
            #expect(filtered >= bytes.count && filtered < bytes.count + 400_000)
            #expect(document.rowCount == 1000)
            app.type("G")
            #expect(lines(app).last == " 999008 entry 999007 special")
            #expect(document.lines.ends.byteCount < 4_200_000)
            // Cells: as many as rows that are seen, before and after a change of all of them.
            #expect(table.subviews.count <= 2 * 20)
        }
    }

    @Test func `Binary PGM and PPM pictures are read, and other data is refused`() throws {
        func map(_ header: String, _ pixels: [UInt8]) throws -> Picture {
            try PortableMap.picture(Array(header.utf8) + pixels)
        }
        #expect(try map("P5 2 1 255\n", [0, 200]).bytes == [0, 0, 0, 255, 200, 200, 200, 255])
        #expect(try map("P6\n#x\n1 1\n15\n", [15, 0, 3]).bytes == [255, 0, 51, 255])
        for header in [
            "", "P6", "P3 1 1 255\n", "P6 0 1 255\n", "P6 1 1 65535\n", "P6 -1 1 255\n", "P6 65535 65535 255\n",
        ] {
            #expect(throws: LogError.self) { try map(header, [1, 2, 3]) }
        }
        #expect(
            PortableMap.paths(in: "saved 'a/b.PPM', (/x/c.pgm) and d.png", directory: "/log/") == [
                "/log/a/b.PPM", "/x/c.pgm",
            ])
    }

    @Test func `The help opens with ? and closes with Escape, and q ends the program`() throws {
        try with([directory.write("a.log", "x\n")], size: Size(80, 24)) { app, _ in
            app.type("?")
            #expect(app.text.contains("only lines that contain"))
            app.press(.escape)
            #expect(!app.text.contains("only lines that contain"))
            app.type("q")
            #expect(app.application.state == .notRunning)
        }
    }

    @Test func `A log of a server is followed and its pictures come from there`() throws {
        let picture = Array("P6 1 1 255\n".utf8) + [255, 0, 0]
        let server = try Server(growing: ["logs/a.log"]) { name in
            switch name {
            case "logs/a.log": Array("one\nwrote x.ppm\n".utf8)
            case "logs/x.ppm": picture
            default: []
            }
        }
        let loader = try LoaderThread()
        defer {
            loader.stop()
            server.stop()
        }
        try TestApplication.with(size: Size(60, 8)) { app in
            let address = try #require(RemoteLog.Address(server.url(of: "logs/a.log")))
            let log = try RemoteLog(address, loader: loader)
            let controller = LogsController(paths: [], remote: [log], loader: .current, watches: false)
            app.show(controller)
            // The threads that load take their own time.
            @MainActor func wait(until isTrue: @MainActor () -> Bool) {
                let limit = ContinuousClock.now + .seconds(60)
                while !isTrue() {
                    if ContinuousClock.now > limit {
                        Issue.record("\(app.text)")
                        return
                    }
                    controller.document.look()
                    app.settle()
                }
            }
            wait { lines(app)[1] == "   2 wrote x.ppm" }
            #expect(lines(app)[0] == "   1 one" && status(app).contains("http://127.0.0.1:"))
            let pictures: @MainActor () -> Bool = { app.text.contains("▀") }
            #expect(!pictures())
            app.press(.down, .down)
            wait(until: pictures)
            app.type("f")
            server.append(Array("three\nfour\n".utf8), to: "logs/a.log")
            wait { lines(app)[3].hasPrefix("   4 four") }
            #expect(status(app).contains("4 of 4"))
            // The mark has moved to a line that names no picture.
            wait { !pictures() }
        }
    }

    @Test func `A server that is not there is named in the log`() throws {
        let server = try Server()
        server.stop()
        let loader = try LoaderThread()
        defer { loader.stop() }
        try TestApplication.with(size: Size(60, 8)) { app in
            let log = try RemoteLog(#require(RemoteLog.Address(server.url(of: "x"))), loader: loader)
            let controller = LogsController(paths: [], remote: [log], loader: .current, watches: false)
            app.show(controller)
            while lines(app)[0].isEmpty {
                controller.document.look()
                app.settle()
            }
            #expect(lines(app)[0] == "   1 No server answers at the address.")
        }
    }

    @Test(arguments: [
        ("http://localhost:80/a", "http://localhost:80/"), ("https://host/a/b.log", "https://host/a/"),
        ("http:/host/a", nil), ("http://host", nil), ("http://host/", nil), ("http:///a", nil), ("ftp://host/a", nil),
        ("a.log", nil),
    ]) func `The address of a log has a host and a name`(text: String, directory: String?) {
        #expect(RemoteLog.Address(text)?.directory == directory)
    }

    @Test func `A missing file is reported, and its lines are shown when it exists`() throws {
        let path = directory.path + "later.log"
        try TestApplication.with(size: Size(100, 8)) { app in
            let controller = LogsController(paths: [path], loader: .current, watches: false)
            app.show(controller)
            app.settle()
            #expect(status(app).contains("No such file"))
            directory.write("later.log", "now\n")
            controller.document.look()
            settle(app, controller)
            #expect(lines(app).first == "   1 now")
        }
    }
}

extension String {
    fileprivate func range(of text: String) -> Int? {
        indices.first { self[$0...].hasPrefix(text) }.map { distance(from: startIndex, to: $0) }
    }
}
