// The only source of time. It is the system clock in production and controlled by hand in tests.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds on a monotonic clock, for durations and not for dates. If absent, use `now()`. */
  elapsed?(): number
  sleep(
    milliseconds: number,
    signal?: { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void },
  ): Promise<void>
}
