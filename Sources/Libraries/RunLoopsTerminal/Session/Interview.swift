// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The questions that a terminal is asked when it is opened, and the results of its answers.
///
/// Every terminal answers the last question. A question that was not answered before the last one will not be answered.
package struct Interview {
    package private(set) var isOver = false
    private var modes: [Int: Int] = [:]
    private var hasKeyboardFlags = false
    package private(set) var takesDirectColors = false
    package private(set) var hasSixels = false
    package private(set) var hasKittyGraphics = false
    /// The size of a cell, in pixels; `nil` if the terminal does not report it.
    package private(set) var cell: (width: Int, height: Int)?

    private static let mouse = 1006
    private static let focus = 1004
    private static let synchronizedUpdate = 2026
    private static let resizeReports = 2048

    private static let sixels = 4
    /// Asks for the flags of the kitty protocol.
    static let keyboard = "\u{1B}[?u"
    /// The last question, which every terminal answers.
    static let last = "\u{1B}[c"

    package init() {}

    /// Returns the questions, without the last one; the terminal is asked about pictures only for a program that shows
    /// some.
    package static func questions(isConsole: Bool, ofPictures: Bool = false) -> String {
        let modes = [mouse, focus, synchronizedUpdate, resizeReports].map { "\u{1B}[?\($0)$p" }.joined()
        // Sets a colour by its parts, and asks how the letters look. The console would show the question.
        let color = isConsole ? "" : "\u{1B}[48;2;1;2;3m\u{1B}P$qm\u{1B}\\\u{1B}[m"
        // Would the terminal take a picture of one pixel? And how large is a cell?
        let pictures = ofPictures && !isConsole ? "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t" : ""
        return modes + keyboard + color + pictures
    }

    package mutating func take(_ reply: RawTerminal.Reply) {
        switch reply {
        case .mode(let number, let state): modes[number] = state
        case .keyboardFlags: hasKeyboardFlags = true
        case .setting(let text) where text.hasSuffix("m"):
            // 48:2:1:2:3, 48:2::1:2:3 or with semicolons.
            let parts = text.dropLast().split { $0 == ":" || $0 == ";" }
            if parts.suffix(3) == ["1", "2", "3"] { takesDirectColors = true }
        case .cellSize(let width, let height): cell = (width, height)
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

    package var hasKeyEnds: Bool { hasKeyboardFlags }
    package var hasSynchronizedUpdates: Bool { offers(Self.synchronizedUpdate) }
    package var hasResizeReports: Bool { offers(Self.resizeReports) }
    // Old terminals have a mouse, and do not answer questions about modes: only a no counts.
    package var refusesMouse: Bool { modes[Self.mouse] == 0 }
    package var refusesFocus: Bool { modes[Self.focus] == 0 }
}
