// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The questions that a terminal is asked when it is opened, and the results of its answers.
///
/// Every terminal answers the last question. A question that was not answered before the last one will not be answered.
struct Interview {
    private(set) var isOver = false
    private var modes: [Int: Int] = [:]
    private var hasKeyboardFlags = false
    private var takesDirectColors = false
    private var hasSixels = false
    private var hasKittyGraphics = false
    private var cell: Size?

    private static let mouse = 1006
    private static let focus = 1004
    private static let synchronizedUpdate = 2026
    private static let resizeReports = 2048

    private static let sixels = 4

    /// Returns the bytes of the questions; the terminal is asked about pictures only for a program that shows some.
    static func questions(isConsole: Bool, ofPictures: Bool = false) -> String {
        let modes = [mouse, focus, synchronizedUpdate, resizeReports].map { "\u{1B}[?\($0)$p" }.joined()
        // Sets a colour by its parts, and asks how the letters look. The console would show the question.
        let color = isConsole ? "" : "\u{1B}[48;2;1;2;3m\u{1B}P$qm\u{1B}\\\u{1B}[m"
        // Would the terminal take a picture of one pixel? And how large is a cell?
        let pictures = ofPictures && !isConsole ? "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t" : ""
        return modes + "\u{1B}[?u" + color + pictures + "\u{1B}[c"
    }

    mutating func take(_ reply: Reply) {
        switch reply {
        case .mode(let number, let state): modes[number] = state
        case .keyboardFlags: hasKeyboardFlags = true
        case .setting(let text) where text.hasSuffix("m"):
            // 48:2:1:2:3, 48:2::1:2:3 or with semicolons.
            let parts = text.dropLast().split { $0 == ":" || $0 == ";" }
            if parts.suffix(3) == ["1", "2", "3"] { takesDirectColors = true }
        case .cellSize(let size): cell = size
        case .graphics(let text): if text == "i=31;OK" { hasKittyGraphics = true }
        case .deviceAttributes(let attributes):
            // The first number is the kind of the device.
            hasSixels = attributes.dropFirst().contains(Self.sixels)
            isOver = true
        case .setting, .cursor, .color: break
        }
    }

    /// Whether a mode can be set; false if the terminal has not answered.
    private func offers(_ mode: Int) -> Bool { (1...3).contains(modes[mode] ?? 0) }

    var hasKeyEnds: Bool { hasKeyboardFlags }
    var hasSynchronizedUpdates: Bool { offers(Self.synchronizedUpdate) }
    var hasResizeReports: Bool { offers(Self.resizeReports) }

    /// Returns how the terminal shows pictures; nil if it shows none.
    ///
    /// - Parameter cell: The size of a cell in pixels from the device, which is preferred to the terminal's answer.
    func pictures(cell device: Size?) -> PictureAbility? {
        let cell = device ?? cell
        if hasKittyGraphics { return PictureAbility(.kitty, cell: cell) }
        return hasSixels && cell != nil ? PictureAbility(.sixel, cell: cell) : nil
    }

    /// Returns the abilities, corrected by the terminal's answers.
    func improved(_ abilities: DisplayAbilities) -> DisplayAbilities {
        var result = abilities
        if takesDirectColors, result.colors != .none { result.colors = .direct }
        // Old terminals have a mouse, and do not answer questions about modes: only a no counts.
        if modes[Self.mouse] == 0 { result.hasPointer = false }
        if modes[Self.focus] == 0 { result.reportsFocus = false }
        result.reportsKeyEnds = hasKeyEnds
        return result
    }
}
