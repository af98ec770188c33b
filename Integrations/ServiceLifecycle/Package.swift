// swift-tools-version: 6.2
import PackageDescription

// As in the library's own manifest.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "run-loops-service-lifecycle",
    products: [
        .library(name: "RunLoopsServiceLifecycle", targets: ["RunLoopsServiceLifecycle"])
    ],
    dependencies: [
        .package(name: "swift-run-loops", path: "../.."),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        .target(
            name: "RunLoopsServiceLifecycle",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsConcurrency", package: "swift-run-loops"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsServiceLifecycleTests",
            dependencies: [
                "RunLoopsServiceLifecycle",
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsTestingMain", package: "swift-run-loops"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
    ]
)
