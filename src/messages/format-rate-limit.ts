const minuteMs = 60_000

/** `until`: milliseconds since the epoch. No full stop. */
export function formatRateLimit(until: number): string {
  return `GitHub's limit for this installation is reached; this goes on at ${formatClockTime(until)} UTC`
}

/** Rounds down to the minute. */
function formatClockTime(at: number): string {
  const minutes = Math.ceil(at / minuteMs)
  const toTwoDigits = (value: number) => String(value).padStart(2, '0')
  return `${toTwoDigits(Math.floor(minutes / 60) % 24)}:${toTwoDigits(minutes % 60)}`
}
