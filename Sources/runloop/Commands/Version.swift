// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoopTool {
    /// The version of the package; of the next release, until its tag is there.
    static let version = "0.1.0"
}
