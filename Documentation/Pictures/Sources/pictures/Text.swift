// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A text's style.
///
/// The sizes suit pictures of up to 568 points: at a width of 360 points the smallest is still 9.5.
enum Style: String, CaseIterable {
    case name, note, title, code

    var size: Double { self == .name || self == .title ? 16 : 15 }

    /// From one baseline to the next.
    var lineHeight: Double { self == .name || self == .title ? 21 : 19 }

    var isBold: Bool { self == .name || self == .title }
}

/// One line of text in one style.
struct Line: Sendable {
    var text: String
    var style: Style

    static func name(_ text: String) -> Line { Line(text: text, style: .name) }
    static func note(_ text: String) -> Line { Line(text: text, style: .note) }
    static func title(_ text: String) -> Line { Line(text: text, style: .title) }
    static func code(_ text: String) -> Line { Line(text: text, style: .code) }

    /// The width in DejaVu Sans, which is wider than the system fonts of Apple, Windows and Android.
    ///
    /// A text that fits in this font fits in all of them.
    var width: Double {
        let widths = style.isBold ? Self.bold : Self.regular
        let thousandths = text.unicodeScalars.reduce(0) { sum, scalar in
            if style == .code { return sum + 602 }
            let index = Int(scalar.value) - 32
            return sum + (widths.indices.contains(index) ? widths[index] : 1000)
        }
        return Double(thousandths) * style.size / 1000
    }

    // Advance widths of the characters from the space to the tilde, in thousandths of the size.
    private static let regular = [
        318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636,
        636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775,
        752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390,
        337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
        635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
    ]
    private static let bold = [
        348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696,
        696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821,
        837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457,
        365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687,
        716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
    ]
}

extension [Line] {
    var width: Double { self.map(\.width).max() ?? 0 }
    var height: Double { self.reduce(0) { $0 + $1.style.lineHeight } }
}
