// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

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
