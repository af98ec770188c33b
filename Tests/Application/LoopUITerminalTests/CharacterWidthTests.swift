// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import LoopUI
import Testing

@Suite struct CharacterWidthTests {
    @Test(
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("한", 2), ("ﾊ", 1), ("Ａ", 2), ("👍", 2), ("👍🏽", 2),
            ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("1\u{FE0F}\u{20E3}", 2), ("☎", 1), ("☎\u{FE0F}", 2), ("─", 1), ("\u{301}", 1),
            ("\u{200B}", 0), ("\n", 1), ("\t", 8), ("\u{202E}", 0), ("น้ำ", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
        ] as [(Character, Int)]) func `A character is as wide as terminals draw it`(
            character: Character, width: Int
        )
    {
        #expect(character.cellWidth == width)
    }

    @Test func `The width of a text is the sum of the widths of its characters`() {
        #expect("".cellWidth == 0)
        #expect("日本 e\u{301}!".cellWidth == 7)
    }

    /// Where the C library differs, and why we do not follow it.
    private static let differences: [(ClosedRange<UInt32>, String)] = [
        (0x0600...0x0605, "Signs before numbers: shown, but of the category that we leave out."),
        (0x06DD...0x06DD, "As above."), (0x070F...0x070F, "As above."), (0x0890...0x0891, "As above."),
        (0x08E2...0x08E2, "As above."), (0x110BD...0x110BD, "As above."), (0x110CD...0x110CD, "As above."),
        (0x3248...0x324F, "Circled numbers: ambiguous in Unicode, and narrow outside of East Asia."),
        (0x4DC0...0x4DFF, "Hexagrams: narrow in Unicode 15, wide from 16 on and in the C library."),
    ]

    /// Calls `body` with the C library's `wcwidth(3)` in the locale C.UTF-8; returns nil without it.
    private static func withLibraryWidths<Result>(_ body: ((UInt32) -> CInt) -> Result) -> Result? {
        // The header declares it only for programs that ask for X/Open.
        guard let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil), let symbol = dlsym(nil, "wcwidth") else {
            return nil
        }
        defer { freelocale(locale) }
        let old = uselocale(locale)
        defer { uselocale(old) }
        let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (wchar_t) -> CInt).self)
        return body { wcwidth(wchar_t($0)) }
    }

    /// Whether the C library knows a scalar of Unicode 16, so that its tables are later than those of `cellWidth`.
    private static let hasNewerTables = withLibraryWidths { width in width(0x0897) >= 0 } ?? false

    @Test(.disabled(if: hasNewerTables, "the C library has tables of a later Unicode"))
    func `Only the listed scalars have another width than in the C library`() throws {
        let (count, wrong, notNeeded) = try #require(Self.withLibraryWidths { Self.compare(with: $0) })
        #expect(count > 100_000)
        #expect(wrong == [])
        #expect(notNeeded == [], "entries of the list")
    }

    /// Counts the scalars that were compared; lists those of another width, and the entries of the list that are not needed.
    private static func compare(with width: (UInt32) -> CInt) -> (count: Int, wrong: [String], notNeeded: [String]) {
        var count = 0
        var wrong: [String] = []
        for value in UInt32(0x20)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), !Self.differences.contains(where: { $0.0.contains(value) }) else {
                continue
            }
            // −1: not assigned in the library's Unicode, or a control.
            let theirs = width(value)
            if theirs < 0 { continue }
            count += 1
            if scalar.cellWidth != Int(theirs) {
                wrong.append("\(String(value, radix: 16)): \(scalar.cellWidth), not \(theirs)")
            }
        }
        let notNeeded = Self.differences.filter { range, _ in
            !range.contains { value in
                let theirs = width(value)
                return theirs >= 0 && Int(theirs) != Unicode.Scalar(value)?.cellWidth
            }
        }
        return (count, wrong, notNeeded.map { "\(String($0.0.lowerBound, radix: 16)): \($0.1)" })
    }
}
