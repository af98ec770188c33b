#if !GLib
// What a program without the trait finds instead, with the remedy in the compiler's message.

/// A run loop inside a GLib main context; with the trait `GLib` alone.
@available(*, unavailable, message: "Enable the trait GLib where the package is named: traits: [\"GLib\"]")
public enum GLibGuest {}

/// A GLib main context as a source of a run loop; with the trait `GLib` alone.
@available(*, unavailable, message: "Enable the trait GLib where the package is named: traits: [\"GLib\"]")
public enum GLibContextSource {}
#endif
