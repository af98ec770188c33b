// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// A runner of the tests in this program, as SwiftPM makes it.
@main struct Program {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
