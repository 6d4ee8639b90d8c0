// The only source of time: real below the line, set by hand in tests.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after so many milliseconds, or as soon as `signal` aborts. */
  sleep(
    milliseconds: number,
    signal?: { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void },
  ): Promise<void>
}
