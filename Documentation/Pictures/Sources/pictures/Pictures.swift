// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes the pictures of the documentation, each in light and in dark colours, or checks that the files are what it would write.
@main
struct Pictures {
    /// Each folder, and the pictures that belong there.
    static func folders(root: URL) throws -> [(path: String, pictures: [Picture])] {
        let rooms = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path)
        /// A module lies in one of the folders of Sources; the guide is such a folder itself.
        func resources(_ module: String) -> String {
            let folder = rooms.map { "Sources/\($0)/\(module)" }.first {
                FileManager.default.fileExists(atPath: root.appending(path: $0).path)
            }
            return "\(folder ?? "Sources/\(module)")/\(module).docc/Resources"
        }
        return [
            (resources("Guide"), try turnPictures + [modes, threadsAndLoops, eventPath] + storyPictures(root: root)),
            (resources("RunLoops"), [turn(name: "one-turn")]),
            (resources("RunLoopsConcurrency"), [taskAndLoop]),
            (resources("RunLoopsDiagnostics"), [whoLooks]),
            (resources("RunLoopsEvents"), [eventSources]),
            (resources("RunLoopsKit"), [partsOfTheKit]),
            (resources("RunLoopsMainActor"), [mainActor]),
            (resources("RunLoopsPorts"), [messagePorts]),
            (resources("RunLoopsTesting"), [twoKernels]),
            (resources("RunLoopsTestingMain"), [mainThreadOfTests]),
        ]
    }

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let isCheck = arguments.first == "--check"
        let root = URL(filePath: isCheck ? arguments.dropFirst().first ?? "." : arguments.first ?? ".")
        let problems = Palette.light.complaints + Palette.dark.complaints + (try run(in: root, onlyChecks: isCheck))
        guard problems.isEmpty else {
            print(problems.joined(separator: "\n"))
            exit(1)
        }
    }

    private static func run(in root: URL, onlyChecks: Bool) throws -> [String] {
        var problems: [String] = []
        var count = 0
        for (path, pictures) in try folders(root: root) {
            let folder = root.appending(path: path)
            if !onlyChecks { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
            for picture in pictures {
                do {
                    for (suffix, palette) in [("", Palette.light), ("~dark", .dark)] {
                        let file = folder.appending(path: "\(picture.name)\(suffix).svg")
                        let svg = Data(try picture.svg(palette).utf8)
                        count += 1
                        if !onlyChecks {
                            try svg.write(to: file)
                        } else if (try? Data(contentsOf: file)) != svg {
                            problems.append(
                                "\(path)/\(file.lastPathComponent) is not what Documentation/Pictures/draw writes")
                        }
                    }
                } catch let complaint as Complaint {
                    problems.append(complaint.description)
                }
            }
        }
        if problems.isEmpty { print("\(count) pictures \(onlyChecks ? "are up to date" : "written")") }
        return problems
    }
}
