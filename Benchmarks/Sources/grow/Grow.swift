// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Charts
internal import Foundation
internal import Workloads

@main
struct Grow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grow",
        abstract: "Shows how the cost of an operation grows with the number of items a loop has.")

    @Option(help: "How often everything is measured; medians are shown.")
    var passes = 3

    @Option(help: "Only these, separated by commas: sources, timers, observers, modes, descriptors.")
    var only: String?

    @Option(help: "The greatest number.")
    var most = 100_000

    @Option(help: "Draws the plot into this file.")
    var svg: String?

    private typealias Point = (count: Double, nanoseconds: Double)

    func run() throws {
        let counts = [1, 10, 100, 1000, 10_000, 100_000].filter { $0 <= most }
        let words = only?.split(separator: ",") ?? [""]
        let chosen = Growth.all.filter { growth in words.contains { growth.title.hasPrefix($0) } }
        let lines = chosen.map { growth in (growth.title, points(growth, counts)) }
        print(Self.table(lines, counts))
        guard let svg else { return }
        let plot = LinePlot(
            "How cost grows with what a loop has", note: "Medians of \(passes) passes. Flat is O(1).",
            lines: lines.map { LinePlot.Line($0.0, $0.1) })
        try save(plot.svg, to: svg)
    }

    private func points(_ growth: Growth, _ counts: [Int]) -> [Point] {
        let counts = Set(counts.map { min($0, growth.most) }).sorted()
        var samples: [Int: [Double]] = [:]
        var bound = Int.max
        for pass in 1...passes {
            var before = Duration.seconds(1000)
            for count in counts where count < bound {
                progress("\(growth.title), \(count), pass \(pass)/\(passes)")
                let began = ContinuousClock.now
                samples[count, default: []].append(onNewThread(growth, count))
                // Making them may take the square of their number.
                let taken = ContinuousClock.now - began
                if count < most, taken * max(10, min(100, taken / before)) > .seconds(100) {
                    progress("\(growth.title): making more than \(count) takes too long")
                    bound = count + 1
                }
                before = taken
            }
        }
        return counts.compactMap { count in
            samples[count].map { (Double(count), $0.sorted()[$0.count / 2]) }
        }
    }

    private func progress(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    /// A thread of its own has a loop of its own, which ends with it.
    private func onNewThread(_ growth: Growth, _ count: Int) -> Double {
        let result = Confined<Double>(0)
        startThread { result.value = growth.measure(count) }.join()
        return result.value
    }

    private static func table(_ lines: [(String, [Point])], _ counts: [Int]) -> String {
        let head = "| ns an operation | " + counts.map(String.init).joined(separator: " | ") + " |"
        let rule = "| --- |" + String(repeating: " ---: |", count: counts.count)
        let rows = lines.map { title, points in
            let cells = counts.map { count in
                // The greatest that can be had stands for the next round number.
                guard let point = points.first(where: { $0.count <= Double(count) && $0.count > Double(count / 10) })
                else { return "–" }
                let isLess = point.count < Double(count) ? " (at \(Int(point.count)))" : ""
                return String(Int(point.nanoseconds.rounded())) + isLess
            }
            return "| \(title) | " + cells.joined(separator: " | ") + " |"
        }
        return ([head, rule] + rows).joined(separator: "\n")
    }
}
