// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Testing

/// Expects that the process of an exit test has said `text` before its end: a trap's text.
package func expectText(
    _ result: ExitTest.Result?, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    // Without a result the exit test itself has failed, and says why.
    guard let result else { return }
    let said = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(said.contains(text), "said: \(said)", sourceLocation: sourceLocation)
}

/// Sets a variable of the environment, or removes it with `nil`, in the process of an exit test.
///
/// The tests' own process has threads that read its environment, and `setenv` may move it meanwhile. `Scripts/specification`
/// refuses every other call of `setenv`, `unsetenv`, `putenv` and `clearenv` in a test.
/// - Precondition: called in an exit test.
package func setVariable(_ name: String, _ value: String?) {
    requireExitTest(name)
    if let value { setenv(name, value, 1) } else { unsetenv(name) }
}

/// The same for a value that is not UTF-8, with a zero at the end.
package func setVariable(_ name: String, bytes: [CChar]) {
    requireExitTest(name)
    setenv(name, bytes, 1)
}

/// Removes all variables.
package func clearVariables() {
    requireExitTest("The environment")
    clearenv()
}

private func requireExitTest(_ name: String) {
    precondition(ExitTest.current != nil, "\(name) is set in the process of all tests: use an exit test")
}
