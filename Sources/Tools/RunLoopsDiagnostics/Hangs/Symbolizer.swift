// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling
internal import RunLoopsLibC
package import RunLoopsSystem

/// A place of code in a file.
package struct CodePlace: Sendable {
    /// The file, by its device, inode and path, and the address as the file counts it, before it is mapped.
    package struct ID: Hashable, Sendable {
        package var file: SystemText
        package var address: UInt64
    }

    package var id: ID
    /// Paths that lead to the file; the first that can be opened is the best.
    package var paths: [SystemText]
    /// The name of the file.
    package var name: String
}

/// Finds the functions that addresses are in, in release builds too.
///
/// Used by one thread. Results are cached.
final class Symbolizer {
    /// One function.
    struct Symbol {
        /// The function's first address in memory; the address itself if that is not known.
        var start: UInt64
        /// The mangled name, as in the file.
        var mangled: String?
        /// The demangled name, as in Swift source.
        var name: String?
        var module: String?
        var offset: UInt64
    }

    /// The key of a cached result: an address inside a file.
    private struct Place: Hashable {
        var file: SystemText
        var address: UInt64
    }

    private var files: [SystemText: (file: ELFFile, functions: [ELFFile.Function])] = [:]
    private var known: [Place: (start: UInt64, mangled: String, name: String)?] = [:]
    /// The maximum number of cached results; the cache is emptied when it is full.
    private static let maxKnown = 4096
    /// The process whose code it is.
    enum Origin {
        case own
        case process(Int32)
        /// A process that has ended: what is known are the paths of its files.
        case files(program: SystemText)
    }

    private let origin: Origin
    /// The folder of the process in /proc; empty for one that has ended.
    private let process: String
    /// The path of the program's file, as the kernel's lists name it.
    private let program: SystemText

    init(_ origin: Origin = .own) {
        self.origin = origin
        switch origin {
        // Not /proc/self, which is empty once the main thread has ended.
        case .own: process = "/proc/thread-self"
        case .process(let number): process = "/proc/\(number)"
        case .files(let program):
            process = ""
            self.program = program
            return
        }
        let link = process + "/exe"
        program = SystemText(
            prefixOf: [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = buffer.withMemoryRebound(to: CChar.self) {
                    max(0, readlink(link, $0.baseAddress.unsafelyUnwrapped, $0.count))
                }
            })
    }

    /// The name of the program's file.
    var programName: String { program.names.last?.decoded ?? "" }

    /// Returns the function at an address of code.
    func symbol(at address: UInt64, in code: LoadedCode = .now()) -> Symbol {
        guard let mapping = code.mapping(at: address) else { return Symbol(start: address, offset: 0) }
        let module = mapping.path.names.last?.decoded
        let bias = mapping.code.bias
        guard let function = function(Place(file: mapping.file, address: address &- bias), mapping) else {
            return Symbol(start: address, module: module, offset: address &- mapping.base)
        }
        let start = function.start &+ bias
        return Symbol(
            start: start, mangled: function.mangled, name: function.name, module: module, offset: address &- start)
    }

    private func function(
        _ place: Place, _ mapping: LoadedCode.Mapping
    ) -> (start: UInt64, mangled: String, name: String)? {
        if let known = known[place] { return known }
        if known.count >= Self.maxKnown { known = [:] }
        let file = file(mapping)
        var found: (start: UInt64, mangled: String, name: String)?
        if let file, let function = file.functions.function(at: place.address),
            case let name = file.file.name(of: function), !name.text.isEmpty
        {
            found = (function.start, name.text, Self.readable(name))
        }
        known[place] = .some(found)
        return found
    }

    private func file(_ mapping: LoadedCode.Mapping) -> (file: ELFFile, functions: [ELFFile.Function])? {
        if let known = files[mapping.file] { return known }
        let file = open(mapping)
        guard let file else { return nil }
        files[mapping.file] = (file, file.functions())
        return files[mapping.file]
    }

    /// Returns the addresses of variables in a mapped file.
    func variables(_ names: Set<String>, in mapping: LoadedCode.Mapping) -> [String: UInt64] {
        open(mapping)?.variables(names).mapValues { $0 &+ mapping.code.bias } ?? [:]
    }

    /// Whether the mapping is of the program's own file.
    func isProgram(_ mapping: LoadedCode.Mapping) -> Bool { mapping.path == program }

    private func open(_ mapping: LoadedCode.Mapping) -> ELFFile? {
        // The kernel's part is only in memory.
        if case .own = origin, !mapping.path.isAbsolute { return ELFFile(at: mapping.base) }
        return paths(of: mapping).lazy.compactMap { ELFFile(path: $0) }.first
    }

    /// Returns the paths that lead to a mapped file, if they can be opened; the first is the best.
    private func paths(of mapping: LoadedCode.Mapping) -> [SystemText] {
        if case .files = origin { return mapping.path.isAbsolute ? [mapping.path] : [] }
        // The program's own file may have been replaced since it was started.
        if mapping.path == program { return [SystemText(prefixOf: "\(process)/exe".utf8)] }
        guard mapping.path.isAbsolute else { return [] }
        if case .own = origin { return [mapping.path] }
        // The file itself, which only the superuser can open; then the file that has its name where the process sees it, which
        // may be a container.
        let (start, end) = (String(mapping.code.start, radix: 16), String(mapping.code.end, radix: 16))
        return [
            SystemText(prefixOf: "\(process)/map_files/\(start)-\(end)".utf8),
            SystemText(prefixOf: "\(process)/root".utf8 + mapping.path.bytes),
        ]
    }

    /// Returns where an address is in its file; `nil` for code without a file.
    func place(of address: UInt64, in code: LoadedCode) -> CodePlace? {
        guard let mapping = code.mapping(at: address), case let paths = paths(of: mapping), !paths.isEmpty else {
            return nil
        }
        return CodePlace(
            id: CodePlace.ID(file: mapping.file, address: address &- mapping.code.bias), paths: paths,
            name: mapping.path.names.last?.decoded ?? "")
    }

    /// Returns a function's name as in the source, without the prefixes of functions that the optimiser made.
    ///
    /// A name that was cut stays mangled: the runtime's demangler ends the process at some of them.
    static func readable(_ name: ELFFile.Name) -> String {
        if name.isCut { return name.text + "…" }
        let mangled = name.text
        let text = String(unsafeUninitializedCapacity: 1 << 14) { buffer in
            var size = buffer.count
            // The result ends with a zero, and is cut off where it does not fit.
            let isSwift = swift_demangle(mangled, mangled.utf8.count, buffer.baseAddress, &size, 0) != nil
            return isSwift ? buffer.firstIndex(of: 0) ?? 0 : 0
        }
        // The spaces of a name in backticks are no-break spaces in the file.
        return text.isEmpty ? mangled : plain(String(text.map { $0 == "\u{A0}" ? " " : $0 }))
    }

    private static let ornaments = [
        "merged ", "function signature specialization ", "generic specialization ",
        "generic not re-abstracted specialization ",
    ]

    static func plain(_ name: String) -> String {
        var name = name[...]
        while let ornament = ornaments.first(where: { name.hasPrefix($0) }) {
            name = name.dropFirst(ornament.count)
            guard name.first == "<" else { continue }
            guard let end = name.firstRange(of: "> of ") else { break }
            name = name[end.upperBound...]
        }
        return String(name)
    }
}
