// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import OracleNames
internal import OracleScenarios

/// The loop that is compared with the real `CFRunLoop`.
enum Subject: String, CaseIterable, ExpressibleByArgument {
    /// The loop under its own names.
    case loop
    /// The loop under Core Foundation's names.
    case names

    var comparison: Comparison {
        switch self {
        case .loop: Comparison()
        case .names: Comparison(subject: OracleNames.CoreFoundationEngine.self)
        }
    }
}
