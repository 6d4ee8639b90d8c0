// The only source of time: real below the line, set by hand in tests.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds since some moment, never set back: for spans, not for dates. Absent: `now()` is as good. */
  elapsed?(): number
  /** Resolves after so many milliseconds, or as soon as `signal` aborts. */
  sleep(
    milliseconds: number,
    signal?: { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void },
  ): Promise<void>
}
