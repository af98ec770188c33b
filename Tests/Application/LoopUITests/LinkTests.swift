// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import Testing

@testable import LoopUI

/// Addresses that text leads to.
@MainActor @Suite struct LinkTests {
    /// Gives each number once; kept, because its objects keep it.
    private static let three = NumberTable<String>(numbers: 1...3, recentCount: 1)

    @Test(
        arguments: [
            ("https://example.org/a?b=c;d#e", "https://example.org/a?b=c;d#e"), ("mailto:a@b", "mailto:a@b"),
            ("git+ssh://h/", "git+ssh://h/"), ("https://example.org/a b", "https://example.org/a%20b"),
            ("file:///tmp/Käse", "file:///tmp/K%C3%A4se"), ("https://e/\u{202E}x", "https://e/%E2%80%AEx"),
            ("https://e/%20", "https://e/%20"), ("", nil), ("example.org", nil), ("/tmp/a", nil), (":a", nil),
            ("1a:b", nil),
            ("ä:b", nil), ("https://e/\u{1B}\\", nil), ("https://e/\n", nil), ("https://e/\u{7}", nil),
            ("https://e/\u{9C}", nil),
            ("https://e/\u{0}", nil), ("https://e/\u{7F}", nil),
        ] as [(String, String?)]) func `A link has a scheme and printable ASCII, or there is none`(
            text: String, address: String?
        )
    {
        #expect(Link(text)?.address == address)
    }

    @Test func `A link of more than 2,083 bytes is refused, counted as it is written`() {
        let room = Link.maxBytes - "https://".utf8.count
        #expect(Link("https://" + String(repeating: "a", count: room)) != nil)
        #expect(Link("https://" + String(repeating: "a", count: room + 1)) == nil)
        #expect(Link("https://" + String(repeating: "a", count: room - 3) + " ") != nil)
        #expect(Link("https://" + String(repeating: "a", count: room - 2) + " ") == nil)
    }

    @Test func `A style keeps its link and its attributes apart, and a cell takes 16 bytes`() throws {
        #expect(MemoryLayout<Style>.size == 12 && MemoryLayout<Cell>.size == 16)
        let (one, two) = (try #require(Link("https://one")), try #require(Link("https://two")))
        var style = Style(.red, on: .blue, [.bold, .underline], link: one)
        #expect(style.link == one && style.attributes == [.bold, .underline])
        style.attributes.formUnion(Style(.red, on: .blue, .italic, link: two).attributes)
        #expect(style.link == one && style.attributes == [.bold, .underline, .italic])
        // Bits that are no attributes are not an address.
        style.attributes = Style.Attributes(rawValue: .max)
        #expect(style.link == one && style.attributes.rawValue == 63)
        #expect(Style(attributes: .max).link == nil)
        style.link = two
        #expect(style.link == two && style.attributes.rawValue == 63)
        #expect(style != Style(.red, on: .blue, style.attributes))
        style.link = nil
        #expect(style == Style(.red, on: .blue, style.attributes))
    }

    @Test func `A number is given once, and after the last one links are text alone`() {
        let table = Self.three
        var first = table.make("a")
        #expect(first?.number == 1 && table.make("a") === first)
        first = nil
        // The ring keeps the last one that was made.
        #expect(table.find(1)?.value == "a" && table.make("b")?.number == 2)
        #expect(table.find(1) == nil && table.find(2)?.value == "b")
        let again = table.make("a")
        #expect(again?.number == 3 && table.find(1) == nil)
        #expect(table.make("c") == nil && table.make("a") === again)
        #expect(table.find(1) == nil && table.find(2) == nil && table.find(3)?.value == "a" && table.find(4) == nil)
    }

    @Test func `Grids keep the links of their cells while many others are made, and unused ones are lost`() throws {
        func link(_ number: Int) -> Link? { Link("https://example.org/\(number)") }
        var kept = CellGrid(width: 4, height: 1)
        var canvas = Canvas(size: Size(4, 1))
        canvas.write("a", at: .zero, style: Style(link: link(0)))
        canvas.fill(Rect(1, 0, 1, 1), with: "x", style: Style(link: link(1)))
        canvas.write("é", at: Point(2, 0), style: Style(link: link(2)))
        kept.lay(canvas.grid, x: 0, y: 0, clip: kept.bounds)
        canvas = Canvas(size: .zero)
        var copy = CellGrid(width: 4, height: 1)
        copy.takeRow(0, from: kept)
        var blended = CellGrid(width: 4, height: 1)
        blended.blend(kept, alpha: 0.7, clip: blended.bounds)
        kept = CellGrid(width: 4, height: 1)
        let stale = Style(link: link(3))
        let first = stale.link?.address
        for number in 4..<20_000 { #expect(Style(link: link(number)).link == link(number)) }
        for (x, number) in zip(0..<3, 0...) {
            #expect(copy[x, 0].style.link == link(number) && blended[x, 0].style.link == link(number))
        }
        #expect(first == "https://example.org/3")
        // Nothing has kept it: it leads nowhere, and never to another address.
        #expect(stale.link == nil && stale.linkNumber != 0)
        #expect(Style(link: link(3)).linkNumber != stale.linkNumber)
        #expect(stale.link == nil)
    }

    @Test func `A grid releases links that it no longer shows`() {
        var grid = CellGrid(width: 10, height: 1)
        weak var first: Numbered<String>?
        for number in 0..<20_000 {
            let style = Style(link: Link("https://example.org/released/\(number)"))
            grid[number % 10, 0].style = style
            if number == 0 { first = style.link?.owner }
        }
        #expect(first == nil)
        #expect(grid[19_999 % 10, 0].style.link?.address == "https://example.org/released/19999")
    }

    @Test func `A label keeps its link until it is drawn`() throws {
        try TestApplication.with(size: Size(20, 2)) { app in
            let label = Label("notes", style: Style(.blue, .underline, link: Link("https://example.org/notes")))
            for number in 0..<10_000 { _ = Link("https://example.org/other/\(number)") }
            app.show(label)
            #expect(app.display.frame?.cells[0, 0].style.link?.address == "https://example.org/notes")
            label.style?.link = Link("https://example.org/new")
            for number in 0..<10_000 { _ = Link("https://example.org/more/\(number)") }
            app.settle()
            #expect(app.display.frame?.cells[0, 0].style.link?.address == "https://example.org/new")
        }
    }

    @Test func `A notification reaches the display without control characters`() throws {
        try TestApplication.with { app in
            #expect(app.application.presentNotification("Built\u{1B}[2J\nin 3 s"))
            #expect(!app.application.presentNotification("\u{1B}"))
            #expect(app.application.presentNotification(String(repeating: "x", count: 1000)))
            #expect(app.display.notifications == ["Built[2J in 3 s", String(repeating: "x", count: 256)])
            app.application.terminate()
            #expect(!app.application.presentNotification("too late"))
        }
        final class Silent: Display {
            let size = Size(10, 2)
            let abilities = DisplayAbilities()
            func open(_ input: InputQueue) {}
            func present(_ frame: Frame) -> Presentation { .taken }
            func suspend() {}
            func resume() {}
            func close() {}
        }
        #expect(!Silent().presentNotification("x"))
        #expect(!Silent().requestUserAttention())
    }

    @Test func `Attention is requested only while the window does not have the focus`() throws {
        try TestApplication.with { app in
            #expect(!app.application.requestUserAttention())
            app.send(.focus(false))
            #expect(app.application.requestUserAttention())
            app.send(.focus(true))
            #expect(!app.application.requestUserAttention())
            app.application.terminate()
            #expect(!app.application.requestUserAttention())
            #expect(app.display.attentionRequests == 1)
        }
    }
}

extension Style {
    fileprivate init(attributes: UInt32) { self.init(.default, on: .clear, Attributes(rawValue: attributes)) }
}
