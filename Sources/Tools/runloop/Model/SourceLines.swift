// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoops
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsLibC
import RunLoopsSystem

/// Finds the source lines of code by `llvm-symbolizer`, which every Swift toolchain has.
///
/// A program's debug information is complicated, and the file may be made to harm its reader. So only files of this user and of the
/// superuser are read, by a process of its own that has nothing but these files.
struct SourceLines {
    /// The reason why there are no lines.
    enum Failure: Error, CustomStringConvertible {
        case noTool
        case foreign(file: String)
        case refused(String)
        case noneKnown

        var description: String {
            switch self {
            case .noTool: "Install llvm-symbolizer, or add the folder of the Swift toolchain to PATH"
            case .foreign(let file): "\(file) belongs to another user, so its debug information is not read"
            case .refused(let reason): "llvm-symbolizer has failed: \(reason)"
            case .noneKnown: "The program has no debug information: build it with -g, and do not strip it"
            }
        }
    }

    /// The maximum number of places that are looked up at a time; a program has far fewer awaits that tasks wait in.
    private static let maxPlaces = 4096
    private static let maxFiles = 64
    private static let maxOutput = 4 << 20
    private static let patience = Duration.seconds(20)

    /// The answers of earlier looks; `nil` for a place without a line.
    private var known: [CodePlace.ID: TaskReport.SourceLine?] = [:]

    /// How often lines were added to a report.
    private(set) var looks = 0

    init() {}

    /// Adds the lines that are known to a report.
    ///
    /// - Throws: The reason why lines may be missing; those that are known are added all the same.
    mutating func add(to report: inout TaskReport) throws(Failure) {
        looks += 1
        let new = report.codePlaces.values.filter { known[$0.id] == nil }
        var failure: Failure?
        do { try look(up: new) } catch { failure = error }
        for (address, place) in report.codePlaces {
            if case let line?? = known[place.id] { report.sourceLines[address] = line }
        }
        if let failure { throw failure }
        if report.sourceLines.isEmpty, !report.codePlaces.isEmpty { throw .noneKnown }
    }

    private mutating func look(up places: [CodePlace]) throws(Failure) {
        var files: [SystemText: CInt] = [:]
        defer { for file in files.values where file >= 0 { close(file) } }
        var foreign: String?
        var asked: [(id: CodePlace.ID, file: CInt)] = []
        for place in places.prefix(Self.maxPlaces) {
            if files[place.id.file] == nil, files.count < Self.maxFiles {
                let file = Self.openFile(of: place)
                if file == nil { foreign = foreign ?? place.name }
                files[place.id.file] = file ?? -1
            }
            guard let file = files[place.id.file], file >= 0 else { continue }
            asked.append((place.id, file))
        }
        if !asked.isEmpty {
            let lines = try self.lines(asked)
            for (one, line) in zip(asked, lines) { known[one.id] = .some(line) }
        }
        if let foreign { throw .foreign(file: foreign) }
    }

    /// Opens the file of a place; `nil` if it belongs to another user, -1 if it cannot be opened.
    private static func openFile(of place: CodePlace) -> CInt? {
        for path in place.paths {
            // Without waiting: the file may have been replaced by a pipe.
            let file = path.withCString { rl_open($0, O_RDONLY | O_NONBLOCK, 0) }
            if file < 0 { continue }
            var status = stat()
            if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                if [0, geteuid()].contains(status.st_uid) { return file }
                close(file)
                return nil
            }
            close(file)
        }
        return -1
    }

    /// Returns a line for each place.
    private func lines(
        _ places: [(id: CodePlace.ID, file: CInt)]
    ) throws(Failure) -> [TaskReport.SourceLine?] {
        let files = Array(Set(places.map(\.file)))
        var descriptors: [CInt: CInt] = [:]
        for (number, file) in files.enumerated() { descriptors[CInt(number + 3)] = file }
        let names = Dictionary(uniqueKeysWithValues: descriptors.map { ($0.value, "/dev/fd/\($0.key)") })
        let questions = places.map { "\(names[$0.file] ?? "") 0x\(String($0.id.address, radix: 16))" }
        let child: Child
        do throws(Child.SpawnError) {
            child = try Child.spawn(
                .name("llvm-symbolizer"), arguments: ["--no-inlines", "--functions=none"] + questions,
                // No server is asked for debug information.
                environment: .updating(["DEBUGINFOD_URLS": nil]), input: .null, output: .pipe, error: .null,
                descriptors: descriptors)
        } catch {
            throw error.code == ENOENT ? .noTool : .refused("\(error)")
        }
        let report = try Self.answer(of: child)
        let lines = report.outputText.split(separator: "\n")
        if !report.exit.status.isSuccess { throw .refused("\(report.exit.status)") }
        // Another program of this name, or a source file whose name has a line break.
        if lines.count != places.count { throw .refused("\(lines.count) answers to \(places.count) questions") }
        return lines.map(Self.line)
    }

    /// Runs the loop until a child has answered.
    private static func answer(of child: Child) throws(Failure) -> ChildCompletion.Report {
        var answer: Result<ChildCompletion.Report, ChildCompletion.Failure>?
        let completion = ChildCompletion(child, limit: maxOutput, outputWait: .zero, timeLimit: patience) { _, result in
            answer = result
            RunLoop.current.stop()
        }
        do { try RunLoop.current.add(completion, in: .default) } catch { throw .refused("\(error)") }
        while true {
            switch answer {
            case .success(let report): return report
            case .failure(let failure): throw .refused("\(failure)")
            case nil: RunLoop.current.run(in: .default, until: nil)
            }
        }
    }

    /// Returns the line in an answer such as `/src/Main.swift:12:5`; `nil` for `??:0:0` and for code that the compiler has made.
    static func line(_ text: Substring) -> TaskReport.SourceLine? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, let line = Int(parts[parts.count - 2]), line > 0 else { return nil }
        let file = parts[..<(parts.count - 2)].joined(separator: ":")
        return file.isEmpty || file == "??" || file.hasPrefix("<") ? nil : TaskReport.SourceLine(file: file, line: line)
    }
}
