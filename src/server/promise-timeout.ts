import type { Clock } from '../ports/clock.ts'

/** Returns whether the work settles within the given milliseconds. The work is not canceled. */
export async function doesPromiseSettleWithin(
  work: Promise<unknown>,
  milliseconds: number,
  clock: Clock,
): Promise<boolean> {
  const over = new AbortController()
  try {
    return await Promise.race([
      work.then(() => true),
      clock.sleep(Math.max(0, milliseconds), over.signal).then(() => false),
    ])
  } finally {
    over.abort()
  }
}
