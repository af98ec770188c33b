// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Traps with a message if the condition is false, in release builds too, where `precondition` prints no message.
///
/// The message names the state and the remedy.
package func require(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { misuse(text()) }
}

/// Traps if a list of modes is empty: what was to be called in them would never be called.
package func requireModes(_ modes: [RunLoop.Mode]) {
    require(
        !modes.isEmpty, "A list of modes is empty, so that nothing would ever be called: name the modes, or .common.")
}

@inline(never)
private func misuse(_ text: String) -> Never { fatalError(text) }
