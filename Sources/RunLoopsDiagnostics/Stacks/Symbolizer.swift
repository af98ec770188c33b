// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Says which functions addresses are in, in release builds too.
///
/// Belongs to one thread. Keeps what it has read.
final class Symbolizer {
    /// One function.
    struct Symbol {
        /// Its beginning in memory; where that is not known, the address itself.
        var start: UInt64
        /// As it is in the file.
        var mangled: String?
        /// As it is written in Swift.
        var name: String?
        var module: String?
        var offset: UInt64
    }

    private var modules: [String: ELFSymbols?] = [:]
    private var known: [UInt64: Symbol] = [:]
    /// Forgotten all at once when there are more.
    private static let mostKnown = 4096

    /// The function at an address of code.
    func symbol(at address: UInt64) -> Symbol {
        if let symbol = known[address] { return symbol }
        if known.count >= Self.mostKnown { known = [:] }
        let symbol = find(address)
        known[address] = symbol
        return symbol
    }

    private func find(_ address: UInt64) -> Symbol {
        var module = rl_module()
        guard rl_find_module(address, &module) else { return Symbol(start: address, offset: 0) }
        let path = module.path.map { String(cString: $0) } ?? ""
        let name = path.split(separator: "/").last.map(String.init)
        // The program's own path may have changed since it was started, or be relative to another directory.
        if let found = symbols(of: module.is_program ? "/proc/self/exe" : path)?.function(at: address - module.bias) {
            return symbol(found.name, found.start + module.bias, in: name, at: address)
        }
        if let exported = module.symbol {
            return symbol(String(cString: exported), module.symbol_start, in: name, at: address)
        }
        return Symbol(start: address, module: name, offset: address - module.base)
    }

    private func symbol(_ mangled: String, _ start: UInt64, in module: String?, at address: UInt64) -> Symbol {
        Symbol(
            start: start, mangled: mangled, name: Self.readable(mangled), module: module, offset: address - start)
    }

    private func symbols(of path: String) -> ELFSymbols? {
        if let known = modules[path] { return known }
        let symbols = ELFSymbols(path: path)
        modules[path] = .some(symbols)
        return symbols
    }

    /// A name as it is written in the source, without what the optimiser has done to the function.
    static func readable(_ mangled: String) -> String {
        guard let text = rl_demangle(mangled) else { return mangled }
        defer { free(text) }
        return plain(String(cString: text))
    }

    private static let ornaments = ["merged ", "function signature specialization ", "generic specialization "]

    static func plain(_ name: String) -> String {
        var name = name[...]
        while let ornament = ornaments.first(where: { name.hasPrefix($0) }) {
            name = name.dropFirst(ornament.count)
            guard name.first == "<" else { continue }
            guard let end = endOfBrackets(name), name[end...].hasPrefix(" of ") else { break }
            name = name[end...].dropFirst(4)
        }
        return String(name)
    }

    /// Behind the bracket that belongs to the first character.
    private static func endOfBrackets(_ text: Substring) -> Substring.Index? {
        var depth = 0
        var before: Character = " "
        for index in text.indices {
            let character = text[index]
            if character == "<" { depth += 1 }
            // An arrow has no bracket.
            if character == ">", before != "-" { depth -= 1 }
            if depth == 0 { return text.index(after: index) }
            before = character
        }
        return nil
    }
}
