// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUI
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

@testable import LoopUITerminal
@testable import RunLoopsTerminal

@Suite(.ownThread) struct EncoderTests {
    private func encoder(
        _ colors: DisplayAbilities.Colors = .direct, unicode: Bool = true, links: Bool = true
    ) -> Encoder {
        var encoder = Encoder()
        encoder.abilities.hasLinks = links
        encoder.abilities.colors = colors
        encoder.abilities.hasUnicode = unicode
        return encoder
    }

    private func frame(_ width: Int, _ height: Int, _ draw: (inout Canvas) -> Void) -> Frame {
        var canvas = Canvas(size: Size(Double(width), Double(height)))
        canvas.fill(canvas.bounds, style: Style(on: .default))
        draw(&canvas)
        var grid = CellGrid(width: width, height: height)
        grid.lay(canvas.grid, x: 0, y: 0, clip: grid.bounds)
        return Frame(cells: grid)
    }

    /// What a terminal shows that has the colours.
    private func expected(_ cell: Cell) -> ScreenModel.Place {
        func name(_ color: Color, _ base: Int) -> String {
            switch color.kind {
            case .default, .clear: "\(base + 9)"
            case .palette(let index) where index < 8: "\(base + Int(index))"
            case .palette(let index) where index < 16: "\(base + 52 + Int(index))"
            case .palette(let index): "\(base + 8);5;\(index)"
            case .rgb(let red, let green, let blue): "\(base + 8);2;\(red);\(green);\(blue)"
            }
        }
        var place = ScreenModel.Place()
        place.text = cell.glyph.character.map { String($0) } ?? ""
        // A mark alone stands on a blank.
        if place.text == "\u{301}" { place.text = " \u{301}" }
        place.foreground = name(cell.style.foreground, 30)
        place.background = name(cell.style.background, 40)
        place.link = cell.style.link.map { .init(identifier: "id=\(cell.style.linkNumber)", address: $0.address) }
        let codes = [1, 2, 3, 4, 7, 9]
        for bit in 0..<6 where cell.style.attributes.rawValue & 1 << bit != 0 { place.attributes.insert(codes[bit]) }
        return place
    }

    /// Of a blank, the colour of the letter and its weight are not seen.
    private func seen(_ place: ScreenModel.Place) -> ScreenModel.Place {
        var place = place
        if place.text == " ", place.attributes.isDisjoint(with: [4, 7, 9]) {
            place.foreground = "39"
            place.attributes = []
        }
        return place
    }

    private func differences(_ screen: ScreenModel, _ grid: CellGrid) -> [String] {
        var found = screen.complaints
        for y in 0..<grid.height {
            for x in 0..<grid.width where seen(screen[x, y]) != seen(expected(grid[x, y])) {
                found.append("\(x) \(y): \(screen[x, y]) is not \(expected(grid[x, y]))")
            }
        }
        return found
    }

    private static let texts = [
        "plain text", "日本語", "é", "e\u{301}", "👍", "👩‍👩‍👧", "🇩🇪", "1\u{FE0F}\u{20E3}", "─│┌┘█░", "한글", "ﾊﾝ", "a", "    ",
        "\u{301}", "✓ ✗ …", "☎\u{FE0F}",
    ]

    private static let links = ["https://example.org/a", "file:///b;c", "mailto:d"].map { Link($0) }

    @Test func `After any sequence of frames the terminal shows the last frame`() {
        var random = SeededRandom(3)
        for round in 0..<60 {
            let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...8, using: &random))
            var encoder = encoder()
            encoder.hasSynchronizedUpdates = round % 2 == 0
            var screen = ScreenModel(width: width, height: height)
            var frame = Frame(cells: CellGrid(width: width, height: height))
            for _ in 0..<12 {
                var canvas = Canvas(size: Size(Double(width), Double(height)))
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    let colors: [Color] = [.default, .red, .gray, .palette(200), .rgb(1, 2, 3), .rgb(250, 20, 3)]
                    let style = Style(
                        colors.randomElement(using: &random)!,
                        on: Bool.random(using: &random) ? .default : colors.randomElement(using: &random)!,
                        Style.Attributes(
                            rawValue: Bool.random(using: &random) ? 0 : UInt32.random(in: 0..<64, using: &random)),
                        link: Bool.random(using: &random) ? nil : Self.links.randomElement(using: &random)!)
                    let place = Point(
                        Double(Int.random(in: -3..<width, using: &random)),
                        Double(Int.random(in: 0..<height, using: &random)))
                    if Int.random(in: 0..<5, using: &random) == 0 {
                        canvas.fill(Rect(origin: place, size: Size(9, 2)), style: style)
                    } else {
                        canvas.write(Self.texts.randomElement(using: &random)!, at: place, style: style)
                    }
                }
                frame.cells.lay(canvas.grid, x: 0, y: 0, clip: frame.cells.bounds)
                frame.cursor = Bool.random(using: &random) ? Point(Double(width - 1), Double(height / 2)) : nil
                let bytes = encoder.encode(frame)
                screen.feed(bytes)
                let found = differences(screen, frame.cells)
                if !found.isEmpty {
                    Issue.record("round \(round): \(found), \(String(decoding: bytes, as: UTF8.self).debugDescription)")
                    return
                }
                #expect(screen.modes.contains(25) == (frame.cursor != nil))
                if let cursor = frame.cursor {
                    #expect(screen.x == Int(cursor.x) && screen.y == Int(cursor.y))
                }
                #expect(!screen.modes.contains(2026))
                #expect(screen.openLink == nil)
            }
        }
    }

    @Test(arguments: [("a", 0, "a 本"), ("a", 1, " a本"), ("a", 2, "日a "), ("語", 1, " 語 ")])
    func `Text drawn over half of a wide character leaves the other half blank`(text: String, x: Int, row: String) {
        var grid = CellGrid(width: 4, height: 1)
        var below = Canvas(size: Size(4, 1))
        below.write("日本", at: .zero)
        grid.lay(below.grid, x: 0, y: 0, clip: grid.bounds)
        var above = Canvas(size: Size(4, 1))
        above.write(text, at: Point(Double(x), 0))
        grid.lay(above.grid, x: 0, y: 0, clip: grid.bounds)
        #expect(grid.text(row: 0) == String(row.reversed().drop { $0 == " " }.reversed()))
        var encoder = encoder()
        var screen = ScreenModel(width: 4, height: 1)
        screen.feed(encoder.encode(Frame(cells: grid)))
        #expect(differences(screen, grid) == [])
    }

    @Test func `An unchanged frame writes no bytes`() {
        var encoder = encoder()
        let picture = frame(80, 24) { $0.write("hello", at: Point(3, 3), style: Style(.red, on: .blue, .bold)) }
        #expect(!encoder.encode(picture).isEmpty)
        #expect(encoder.encode(picture).isEmpty)
        encoder.forget()
        #expect(!encoder.encode(picture).isEmpty)
    }

    @Test func `A changed line takes at most 50 bytes`() {
        var encoder = encoder()
        encoder.hasSynchronizedUpdates = true
        func picture(_ text: String, _ style: Style = .plain) -> Frame {
            frame(80, 24) {
                $0.border($0.bounds)
                $0.write("keys ", at: Point(2, 5))
                $0.write(text, at: Point(7, 5), style: style)
            }
        }
        _ = encoder.encode(picture("41"))
        #expect(String(decoding: encoder.encode(picture("42")), as: UTF8.self) == "\u{1B}[6;9H2")
        #expect(encoder.encode(picture("some thirty letters that differ")).count <= 50)
        #expect(encoder.encode(picture("other letters, in red and bold", Style(.red, on: .default, .bold))).count <= 50)
        #expect(encoder.encode(picture("")).count <= 50)
    }

    @Test(arguments: [
        ("a....b", "x....y", "\rx....y"), ("a.....b", "x.....y", "\rx\u{1B}[5Cy"), ("abcdef", "abcdeX", "\u{1B}[5CX"),
        ("abcdefgh", "        ", "\r\u{1B}[K"), ("ab", "  ", "\r  "),
    ]) func `The encoder skips and clears cells with the shortest sequence`(old: String, new: String, bytes: String) {
        var encoder = encoder()
        _ = encoder.encode(frame(20, 2) { $0.write("z", at: .zero) })
        _ = encoder.encode(frame(20, 2) { $0.write(old, at: .zero) })
        // The cursor into the first column of the row, so that each case begins at the same place.
        var first = frame(20, 2) { $0.write(old, at: .zero) }
        first.cursor = Point(0, 0)
        _ = encoder.encode(first)
        var second = frame(20, 2) { $0.write(new, at: .zero) }
        second.cursor = nil
        let text = String(decoding: encoder.encode(second), as: UTF8.self)
        #expect(text == bytes.drop { $0 == "\r" } + "\u{1B}[?25l")
    }

    @Test(arguments: [
        (Color.rgb(255, 0, 0), DisplayAbilities.Colors.palette16, Color.palette(9)),
        (.rgb(10, 10, 10), .palette16, .palette(0)), (.rgb(255, 0, 0), .palette256, .palette(196)),
        (.rgb(128, 128, 128), .palette256, .palette(244)), (.palette(196), .palette16, .palette(9)),
        (.palette(196), .palette256, .palette(196)), (.rgb(1, 2, 3), .direct, .rgb(1, 2, 3)),
        (.red, .palette16, .red), (.red, .none, .default), (.rgb(1, 2, 3), .none, .default),
        (.clear, .direct, .default),
    ]) func `A colour is reduced to the nearest colour of the palette`(
        color: Color, colors: DisplayAbilities.Colors, nearest: Color
    ) {
        #expect(Palette.reduce(color, to: colors) == nearest)
    }

    @Test func `Without Unicode only ASCII is written`() {
        var encoder = encoder(unicode: false)
        let picture = frame(12, 3) {
            $0.border($0.bounds, .rounded)
            $0.write("日é→✓", at: Point(1, 1))
        }
        let bytes = encoder.encode(picture)
        #expect(bytes.allSatisfy { $0 < 0x80 })
        var screen = ScreenModel(width: 12, height: 3)
        screen.feed(bytes)
        #expect(screen.text == "+----------+\n|???>*     |\n+----------+\n")
    }

    @Test func `Control characters in a text or title do not reach the terminal`() {
        var encoder = encoder()
        var picture = frame(20, 1) { $0.write("a\u{1B}[2J\u{9B}31m\u{202E}b\u{200B}", at: .zero) }
        picture.title = "t\u{1B}\\\u{7}\u{9C}x\u{202E}\u{200B}\ty"
        let bytes = encoder.encode(picture)
        var screen = ScreenModel(width: 20, height: 1)
        screen.feed(bytes)
        #expect(screen.complaints == [])
        #expect(screen.text(row: 0) == "a\u{FFFD}[2J\u{FFFD}31mb")
        #expect(screen.titles == ["t\\x y"])
        picture.title = String(repeating: "e" + String(repeating: "\u{301}", count: 1000), count: 1000)
        #expect(encoder.encode(picture).count < 20_000)
    }

    @Test func `A character with 50,000 combining marks is written in fewer than 200 bytes`() {
        var encoder = encoder()
        let picture = frame(20, 1) { $0.write("a" + String(repeating: "\u{301}", count: 50_000) + "b", at: .zero) }
        for _ in 0..<3 {
            encoder.forget()
            #expect(encoder.encode(picture).count < 200)
        }
    }

    @Test(arguments: ["น้ำ", "ນ້ຳ", "क्षि", "🇩🇪", "1\u{FE0F}\u{20E3}"])
    func `Text after a composed character starts in the right column`(text: String) {
        var encoder = encoder()
        var screen = ScreenModel(width: 20, height: 1)
        screen.feed(encoder.encode(frame(20, 1) { $0.write("xxxxxxxx", at: .zero) }))
        screen.feed(encoder.encode(frame(20, 1) { $0.write(text + "|", at: .zero) }))
        #expect(screen.complaints == [])
        #expect(screen.text(row: 0) == text + "|")
        #expect(screen[text.cellWidth, 0].text == "|")
    }

    // MARK: Links

    @Test func `A link is written around its text, and the frame ends without one`() throws {
        let link = try #require(Link("https://example.org/a"))
        let id = Style(link: link).linkNumber
        var encoder = encoder()
        _ = encoder.encode(frame(20, 1) { _ in })
        let linked = frame(20, 1) {
            $0.write("see", at: .zero)
            $0.write("a b", at: Point(4, 0), style: Style(link: link))
        }
        let text = String(decoding: encoder.encode(linked), as: UTF8.self)
        #expect(text == "\u{1B}[Hsee \u{1B}]8;id=\(id);https://example.org/a\u{1B}\\a b\u{1B}]8;;\u{1B}\\")
        #expect(encoder.encode(linked).isEmpty)
        // A letter that changes later has the same identifier, so that the terminal marks the whole text as one link.
        let changed = frame(20, 1) {
            $0.write("see", at: .zero)
            $0.write("a c", at: Point(4, 0), style: Style(link: link))
        }
        let update = String(decoding: encoder.encode(changed), as: UTF8.self)
        #expect(update == "\u{8}\u{1B}]8;id=\(id);https://example.org/a\u{1B}\\c\u{1B}]8;;\u{1B}\\")
    }

    @Test
    func `Frames without links take the same bytes with and without the ability, and links without it are text alone`()
    {
        let plain = frame(30, 3) { $0.write("some letters", at: Point(1, 1), style: Style(.red, .bold)) }
        var (able, unable) = (encoder(), encoder(links: false))
        #expect(able.encode(plain) == unable.encode(plain))
        let linked = frame(30, 3) {
            $0.write("other letters", at: Point(1, 1), style: Style(.red, .bold, link: Self.links[0]))
        }
        let unlinked = frame(30, 3) { $0.write("other letters", at: Point(1, 1), style: Style(.red, .bold)) }
        #expect(unable.encode(linked) == able.encode(unlinked))
        #expect(!able.hasWrittenLinks && !unable.hasWrittenLinks)
    }

    @Test func `A link whose number has lost its address is text alone`() {
        var style = Style(.red)
        var grid = CellGrid(width: 4, height: 1)
        for number in 0..<10_000 {
            style.link = Link("https://example.org/lost/\(number)")
            if number == 0 { grid = CellGrid(width: 4, height: 1, filledWith: Cell(Glyph("x"), style)) }
        }
        // The cells as bytes, as they would be without a grid that keeps the link.
        let stale = grid[0, 0]
        grid = CellGrid(width: 4, height: 1)
        for number in 10_000..<20_000 { style.link = Link("https://example.org/lost/\(number)") }
        let later = CellGrid(width: 4, height: 1, filledWith: stale)
        #expect(stale.style.linkNumber != 0 && stale.style.link == nil)
        var encoder = encoder()
        var screen = ScreenModel(width: 4, height: 1)
        screen.feed(encoder.encode(Frame(cells: later)))
        #expect(screen.text == "xxxx\n" && screen[0, 0].link == nil && screen.complaints == [])
    }

    @Test(arguments: [false, true])
    func `A frame that is cut at any byte leaves no link to the shell or the next frame`(isPart: Bool) {
        let linked = frame(12, 2) {
            $0.write("abc", at: .zero, style: Style(link: Self.links[0]))
            $0.write("def", at: Point(6, 1), style: Style(.red, link: Self.links[1]))
        }
        var modes = ScreenModes()
        modes.hasLinks = true
        var whole = encoder()
        whole.isPart = isPart
        let bytes = whole.encode(linked)
        let plain = frame(12, 2) { $0.write("plain", at: .zero) }
        for count in 0...bytes.count {
            var encoder = encoder()
            encoder.isPart = isPart
            _ = encoder.encode(linked)
            var screen = ScreenModel(width: 12, height: 2)
            screen.feed(bytes.prefix(count))
            var left = screen
            left.feed(Array(modes.leaving.utf8))
            #expect(left.openLink == nil, "\(count)")
            // As after the program was stopped, and has dropped what the terminal had not taken.
            encoder.forget()
            screen.feed(Array(modes.enteringAgain.utf8))
            screen.feed(encoder.encode(plain))
            #expect(screen.openLink == nil && screen[0, 0].link == nil, "\(count)")
            if !isPart { #expect(differences(screen, plain.cells) == [], "\(count)") }
        }
    }

    @Test func `Only a large update is synchronized`() {
        var encoder = encoder()
        encoder.hasSynchronizedUpdates = true
        var screen = ScreenModel(width: 80, height: 24)
        screen.feed(encoder.encode(frame(80, 24) { $0.border($0.bounds) }))
        #expect(screen.everSet.contains(2026))
        screen = ScreenModel(width: 80, height: 24)
        screen.feed(encoder.encode(frame(80, 24) { $0.fill($0.bounds, with: "x", style: .plain) }))
        #expect(screen.everSet.contains(2026))
        screen = ScreenModel(width: 80, height: 24)
        screen.feed(
            encoder.encode(
                frame(80, 24) {
                    $0.fill($0.bounds, with: "x", style: .plain)
                    $0.write("y", at: .zero)
                }))
        #expect(!screen.everSet.contains(2026))
    }

    /// Prints its time with `RUNLOOPS_FULL=1`; in an optimised build at most 2 ms.
    @Test(.enabled(if: isFull)) func `A repaint sets each style once, and an unchanged frame writes nothing`() {
        let pictures = ["abcdefg", "日本語テキスト"].flatMap { word in
            [Style.plain, Style(.rgb(200, 30, 30), on: .blue, .bold)].map { style in
                frame(200, 60) {
                    for y in 0..<60 {
                        $0.write(String(repeating: word, count: 30), at: Point(0, Double(y)), style: style)
                    }
                }
            }
        }
        for (name, picture) in zip(["letters", "letters in colour", "wide", "wide in colour"], pictures) {
            var encoder = encoder()
            var count = 0
            let whole = (0..<50).map { _ in
                encoder.forget()
                return processorTime { count = encoder.encode(picture).count }
            }
            var unchanged = 0
            let same = (0..<50).map { _ in processorTime { unchanged += encoder.encode(picture).count } }
            // The letters, a few bytes to move the cursor in each row, and the style.
            #expect(count > 0 && count < picture.cells.text.utf8.count + 60 * 16 + 200)
            #expect(unchanged == 0)
            print("encoder, 200×60, \(name): \(whole.min()!) for \(count) bytes, unchanged \(same.min()!)")
        }
    }
}
