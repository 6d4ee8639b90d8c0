const msPerMinute = 60_000

/** `until`: milliseconds since the epoch. The result has no period. */
export function formatRateLimit(until: number): string {
  return `the GitHub API rate limit for this installation was exceeded; catalog-bot continues at ${formatClockTime(until)} UTC`
}

/** Rounds up to the minute. */
function formatClockTime(at: number): string {
  const minutes = Math.ceil(at / msPerMinute)
  const toTwoDigits = (value: number) => String(value).padStart(2, '0')
  return `${toTwoDigits(Math.floor(minutes / 60) % 24)}:${toTwoDigits(minutes % 60)}`
}
