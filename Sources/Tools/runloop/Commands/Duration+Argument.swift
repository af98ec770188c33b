// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser

/// A duration as typed on the command line: `3s`, `500ms`, `1.5s`, `2m`.
// Nobody else can see this module, or conform in it.
// swift-format-ignore: AvoidRetroactiveConformances
extension Duration: @retroactive ExpressibleByArgument {
    private static let units = ["ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12]

    /// Parses a decimal number and a unit.
    ///
    /// The result is `nil` for any other text, and for durations that do not fit in 64 bits of nanoseconds (292 years).
    public init?(argument: String) {
        let number = argument.prefix { $0 == "." || "0"..."9" ~= $0 }
        // Double would take a point at either end, too.
        guard number.first != ".", number.last != ".", let value = Double(number),
            let unit = Self.units[String(argument.dropFirst(number.count))],
            let nanoseconds = Int64(exactly: (value * unit).rounded())
        else { return nil }
        self = .nanoseconds(nanoseconds)
    }

    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension ArgumentHelp {
    static func duration(_ text: String) -> ArgumentHelp { ArgumentHelp("\(text)", valueName: "duration") }
    static func number(_ text: String) -> ArgumentHelp { ArgumentHelp("\(text)", valueName: "number") }
    static let process = ArgumentHelp("The number of the process: see runloop ps.", valueName: "pid")
}
