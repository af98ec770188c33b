// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What the figures were measured on.
enum Machine {
    static var text: String {
        let processor = value(of: "model name", in: "/proc/cpuinfo") ?? "unknown processor"
        let release = value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=")?.filter { $0 != "\"" } ?? "Linux"
        let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
        let count = ProcessInfo.processInfo.activeProcessorCount
        let version = kernel.split(separator: "-").first.map(String.init) ?? "?"
        return
            "\(processor), \(count) CPU\(count == 1 ? "" : "s"); \(release), Linux \(version.trimmingCharacters(in: .whitespacesAndNewlines))"
    }

    /// How busy the machine is with other things: the figures wobble with it.
    static var load: String {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return text.split(separator: " ").first.map(String.init) ?? "?"
    }

    static var today: String { Date.now.formatted(.iso8601.year().month().day()) }

    /// What the loops were built with, as far as it is installed.
    static var versions: [String] {
        let libraries = ["raw", "libuv", "libev", "libevent", "glib"].map(version)
        let manifest = try? String(
            contentsOf: Command.repository.appendingPathComponent("Benchmarks/Package.swift"), encoding: .utf8)
        let nio = manifest?.firstMatch(of: /swift-nio", exact: "([^"]+)"/).map { "SwiftNIO \($0.1)" }
        // Foundation and libdispatch come with it.
        let swift = Command.output("/usr/bin/env", ["swift", "--version"]).firstMatch(of: /Swift version [0-9.]+/)
            .map { String($0.0) }
        return ([swift, nio] + libraries).compactMap(\.self)
    }

    private static func version(_ peer: String) -> String? {
        let text = Command.output(Program("peer-\(peer)").path, ["version"])
        return text.hasPrefix("version ") ? text.dropFirst(8).trimmingCharacters(in: .whitespacesAndNewlines) : nil
    }

    private static func value(of key: String, in path: String, separator: Character = ":") -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(key) {
            return line.split(separator: separator, maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
        }
        return nil
    }
}
