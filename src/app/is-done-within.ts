// Waiting for something, but not for ever.
import type { Clock } from '../ports/clock.ts'

/** Whether work ends within so many milliseconds, one way or the other. It goes on where it does not. */
export async function isDoneWithin(
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
