internal import HTTPDNSNames
internal import HTTPDNSPlatform

// The laboratory's servers are drivers: they read the clock here and nowhere else.

func labNow() -> Monotonic { SystemMonotonicClock().now() }

func labWallTime() -> WallTime { SystemWallClock().now() }
