// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI
internal import RunLoopsEvents
internal import RunLoopsTerminal

/// The settings of the terminal and the user's wishes, as the environment variables give them.
struct Environment {
    private let value: (String) -> String?

    /// The environment of the process.
    static var process: Environment { Environment { name in environmentValue(name) } }

    init(_ value: @escaping (String) -> String?) { self.value = value }

    private func isSet(_ name: String) -> Bool { value(name) == "1" }

    var term: String { value("TERM") ?? "" }
    /// Whether the terminal cannot move its cursor.
    var isDumb: Bool { term.isEmpty || term == "dumb" }
    /// Whether the user reads changes as lines, as screen readers do.
    var isLinear: Bool { isSet("LOOPUI_LINEAR") }
    /// Whether the terminal is the console of Linux, which has neither a mouse nor a title.
    var isConsole: Bool { term == "linux" }

    /// Whether the terminal is one of tmux, of which the environment says so on the same machine, and `TERM` on another.
    var isInTmux: Bool { value("TMUX").map { !$0.isEmpty } ?? false || term.hasPrefix("tmux") }

    /// The times to wait for input.
    var timing: InputTiming { InputTiming(escapeDelay: value("ESCDELAY")) }

    /// Whether the locale is a UTF-8 one: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set decides, as in
    /// setlocale(3).
    private var hasUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(value).first { !$0.isEmpty } ?? ""
        // Behind it may stand a modifier, as in de_DE.UTF-8@euro.
        let name = locale.lowercased().prefix { $0 != "@" }
        return name.hasSuffix("utf-8") || name.hasSuffix("utf8")
    }

    private var colors: DisplayAbilities.Colors {
        // no-color.org: set and not empty.
        if let wish = value("NO_COLOR"), !wish.isEmpty { return .none }
        if ["truecolor", "24bit"].contains(value("COLORTERM")) || term.hasSuffix("-direct") { return .direct }
        return term.hasSuffix("-256color") ? .palette256 : .palette16
    }

    /// The abilities of the terminal as far as the environment gives them, before the terminal has answered.
    var abilities: DisplayAbilities {
        var abilities = DisplayAbilities()
        abilities.colors = colors
        abilities.hasPointer = !isConsole
        abilities.hasUnicode = hasUnicode
        abilities.hasLinks = !isConsole
        abilities.reportsFocus = !isConsole
        abilities.reducesMotion = isSet("LOOPUI_REDUCE_MOTION")
        return abilities
    }
}
