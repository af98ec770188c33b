// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The line in which the user writes what to look for: a sign that says what it is for, and a field.
///
/// What was entered for a sign comes back by the up arrow.
final class Prompt: StackView {
    private let sign = Label()
    private let field = TextField()
    private var histories: [String: [String]] = [:]
    private var answer: (String) -> Void = { _ in }

    init() {
        super.init(.horizontal)
        field.keepsHistory = true
        field.addAction { [weak self] in self?.answer($0.text) }
        addArrangedSubview(sign)
        addArrangedSubview(field, flex: 1)
    }

    /// Whether the keys come to the field.
    var isAsking: Bool { field.isFirstResponder }

    /// Asks for a text; the escape key is left to the views around.
    func ask(_ sign: String, _ answer: @escaping (String) -> Void) {
        histories[self.sign.text] = field.history
        self.sign.text = sign
        self.answer = answer
        field.text = ""
        field.history = histories[sign] ?? []
        isHidden = false
        field.becomeFirstResponder()
    }
}

/// The keys, in a sheet; any key closes it.
final class HelpController: ViewController {
    private static let text = """
         ↑ ↓  j k         a line            /    search (n next, N before)
         space b  pages   a page            &    only lines that contain …
         g G              start, end        esc  end of search and filter
         ← →              sideways          :    go to the line
         tab 1…9          next file, file   f    follow what is written
         #                line numbers      q    end

         Small letters are looked for in either case.
        """

    override func loadView() {
        view = Label(Self.text, lines: 0)
        preferredContentSize = Size(72, 8)
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) { dismiss() }
}
