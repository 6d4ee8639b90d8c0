const minute = 60_000

/** `until`: milliseconds since the epoch. No full stop. */
export function sayGitHubLimit(until: number): string {
  return `GitHub's limit for this installation is reached; this goes on at ${clockTime(until)} UTC`
}

/** Rounds down to the minute. */
function clockTime(at: number): string {
  const minutes = Math.ceil(at / minute)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`
}
