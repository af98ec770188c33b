// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A colour with its relative luminance, as the accessibility guidelines of the web (WCAG 2) define it.
struct Colour: Equatable, Sendable {
    let hex: String

    init(_ hex: String) {
        precondition(hex.count == 7 && hex.first == "#", "\(hex) is not a colour: write #rrggbb")
        self.hex = hex
    }

    var luminance: Double {
        let value = Int(hex.dropFirst(), radix: 16)!
        let parts = [16, 8, 0].map { shift -> Double in
            let part = Double((value >> shift) & 0xff) / 255
            return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    /// From 1, no contrast, to 21, black on white.
    func contrast(with other: Colour) -> Double {
        let (light, dark) = (max(luminance, other.luminance), min(luminance, other.luminance))
        return (light + 0.05) / (dark + 0.05)
    }
}

/// What a box stands for: the vocabulary of all pictures.
enum Kind: String, CaseIterable {
    case plain, told, work, look, sleep

    /// What the legend says.
    var meaning: String {
        switch self {
        case .plain: "other parts"
        case .told: "observers"
        case .work: "your closures"
        case .look: "a look"
        case .sleep: "the sleep"
        }
    }
}

/// The colours of one appearance.
struct Palette: Sendable {
    let name: String
    let ground, frame, lane, text, note, line: Colour
    let fills: [Kind: Colour]
    let strokes: [Kind: Colour]

    static let light = Palette(
        name: "light", ground: Colour("#ffffff"), frame: Colour("#d1d9e0"), lane: Colour("#f6f8fa"),
        text: Colour("#1f2328"), note: Colour("#424a53"), line: Colour("#59636e"),
        fills: [
            .plain: Colour("#ffffff"), .told: Colour("#ddf4ff"), .work: Colour("#dafbe1"), .look: Colour("#fff8c5"),
            .sleep: Colour("#fbefff"),
        ],
        strokes: [
            .plain: Colour("#59636e"), .told: Colour("#0550ae"), .work: Colour("#116329"), .look: Colour("#7d4e00"),
            .sleep: Colour("#6639ba"),
        ])

    static let dark = Palette(
        name: "dark", ground: Colour("#0d1117"), frame: Colour("#3d444d"), lane: Colour("#151b23"),
        text: Colour("#f0f6fc"), note: Colour("#d1d7e0"), line: Colour("#b0bac5"),
        fills: [
            .plain: Colour("#0d1117"), .told: Colour("#10233f"), .work: Colour("#12301f"), .look: Colour("#332a10"),
            .sleep: Colour("#2a1f45"),
        ],
        strokes: [
            .plain: Colour("#9aa4af"), .told: Colour("#79c0ff"), .work: Colour("#56d364"), .look: Colour("#e3b341"),
            .sleep: Colour("#c297ff"),
        ])

    /// What is too faint: text needs a contrast of 4.5 with its ground, a line or a border 3.
    var complaints: [String] {
        var pairs: [(String, Colour, Colour, Double)] = []
        for (place, under) in [("the page", ground), ("a lane", lane)] {
            pairs += [("text on \(place)", text, under, 4.5), ("a note on \(place)", note, under, 4.5)]
            pairs += [("an arrow on \(place)", line, under, 3)]
            pairs += Kind.allCases.map { ("the border of \($0) on \(place)", strokes[$0]!, under, 3) }
        }
        for kind in Kind.allCases {
            pairs += [("text on \(kind)", text, fills[kind]!, 4.5), ("a note on \(kind)", note, fills[kind]!, 4.5)]
            pairs += [("text on a marked \(kind)", ground, strokes[kind]!, 4.5)]
        }
        return pairs.compactMap { what, colour, under, least in
            let contrast = colour.contrast(with: under)
            return contrast < least ? "\(name): the contrast of \(what) is \(contrast), not \(least)" : nil
        }
    }
}
