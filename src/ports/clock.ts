// The only source of time: real below the line, set by hand in tests.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds on a clock that is never set back: for spans, not for dates. Absent: use `now()`. */
  elapsed?(): number
  sleep(
    milliseconds: number,
    signal?: { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void },
  ): Promise<void>
}
