// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A value that is written as JSON and read back.
///
/// Input from other processes and files is not trusted: reading returns `nil` for a value that is missing, wrong or too
/// large.
protocol JSONConvertible {
    /// The value as JSON; `nil` for a member that is left out.
    var asJSON: JSON? { get }
    init?(json: JSON)
}

/// A value that is written as a JSON object, with a member for each field.
///
/// If a member is missing or cannot be the field's value, the field keeps the value from `init()`.
protocol JSONRecord: JSONConvertible {
    init()
    static var fields: [JSONField<Self>] { get }
}

/// One field of a record, for writing and reading.
struct JSONField<Record> {
    let name: String
    /// Whether reading a record fails if the member is missing.
    let isRequired: Bool
    let get: (Record) -> JSON?
    /// Sets the field from JSON; returns whether the JSON is a valid value of the field.
    let set: (inout Record, JSON) -> Bool

    init<Value: JSONConvertible>(
        _ name: String, _ path: WritableKeyPath<Record, Value>, isRequired: Bool = false
    ) {
        self.name = name
        self.isRequired = isRequired
        get = { $0[keyPath: path].asJSON }
        set = { record, json in
            guard let value = Value(json: json) else { return false }
            record[keyPath: path] = value
            return true
        }
    }
}

extension JSONRecord {
    var asJSON: JSON? {
        .object(Self.fields.compactMap { field in field.get(self).map { JSON.Member(name: field.name, value: $0) } })
    }

    init?(json: JSON) {
        guard case .object = json else { return nil }
        self.init()
        for field in Self.fields {
            let isSet = json[field.name].map { field.set(&self, $0) } ?? false
            if field.isRequired, !isSet { return nil }
        }
    }
}

// MARK: Values

/// A single value with one conversion to JSON and one from JSON.
protocol JSONScalar: JSONConvertible {
    static func read(_ json: JSON) -> Self?
}

extension JSONScalar {
    init?(json: JSON) {
        guard let value = Self.read(json) else { return nil }
        self = value
    }
}

extension Double: JSONScalar {
    var asJSON: JSON? { .decimal(self) }
    static func read(_ json: JSON) -> Double? { json.number }
}

extension Bool: JSONScalar {
    var asJSON: JSON? { .bool(self) }
    static func read(_ json: JSON) -> Bool? { if case .bool(let value) = json { value } else { nil } }
}

extension String: JSONScalar {
    var asJSON: JSON? { .string(self) }
    static func read(_ json: JSON) -> String? { json.string }
}

/// Conversion by the names of the cases.
extension JSONScalar where Self: CaseIterable {
    var asJSON: JSON? { .string("\(self)") }
    static func read(_ json: JSON) -> Self? { allCases.first { "\($0)" == json.string } }
}

extension LoopActivity: JSONScalar {}
extension RunLoop.Trace.Event.Callee: JSONScalar {}

extension JSONScalar where Self: FixedWidthInteger {
    var asJSON: JSON? { .integer(Int64(clamping: self)) }
    static func read(_ json: JSON) -> Self? { json.integer.map { Self(clamping: $0) } }
}

extension Int: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt64: JSONScalar {}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    var asJSON: JSON? { flatMap(\.asJSON) }
    init?(json: JSON) { self = Wrapped(json: json) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    var asJSON: JSON? { .array(compactMap(\.asJSON)) }
    init?(json: JSON) {
        guard let values = json.array else { return nil }
        self = values.compactMap(Element.init(json:))
        if count < values.count { return nil }
    }
}

/// Conversion to an object with the names of the keys, in the order of the cases.
extension Dictionary: JSONConvertible
where Key: CaseIterable & CustomStringConvertible, Value: JSONConvertible {
    var asJSON: JSON? {
        let members = Key.allCases.map { key in (key, self[key]?.asJSON) }
        return .object(members.compactMap { key, value in value.map { .init(name: key.description, value: $0) } })
    }

    init?(json: JSON) {
        guard case .object = json else { return nil }
        self.init()
        for key in Key.allCases { self[key] = json[key.description].flatMap(Value.init(json:)) }
    }
}
