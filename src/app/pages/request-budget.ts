// How much strangers may ask for: so many pages a minute from one address, and a few at once over all. What is over that is
// turned away at the door, before the store hears of it.
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { LruMap } from '../../examine/catalogs/lru-map.ts'

export interface RequestBudget {
  /** Whether this one may ask once more. */
  take(key: string): boolean
}

/** Addresses that are remembered; who was forgotten begins anew. */
const mostKeys = 20_000

/** `perMinute` on average, and as many at once. */
export function openRequestBudget(perMinute: number, now: () => number): RequestBudget {
  const buckets = new LruMap<string, { left: number; at: number }>(
    mostKeys,
    () => 1,
    // Full again by then: as good as a new one.
    ({ at }) => now() - at > 60_000,
  )
  return {
    take(key) {
      const bucket = buckets.get(key) ?? { left: perMinute, at: now() }
      const left = Math.min(perMinute, bucket.left + (Math.max(0, now() - bucket.at) / 60_000) * perMinute)
      buckets.set(key, { left: Math.max(0, left - 1), at: now() })
      return left >= 1
    },
  }
}

/**
 * Who asks, for counting. Behind a proxy of the operator's own (which asks from a private address) it is what the proxy says;
 * the last entry is its own, those before it are whatever the client wrote.
 */
export function clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
  const peer = socket.remoteAddress ?? ''
  const forwarded = headers['x-forwarded-for']
  const last = (Array.isArray(forwarded) ? forwarded.at(-1) : forwarded)?.split(',').at(-1)?.trim()
  const address = last !== undefined && isPrivate(peer) && isIP(last) !== 0 ? last : peer
  // A zone is text of any length.
  const client = address.split('%')[0] ?? ''
  // Of IPv6, a household has a /64.
  return isIP(client) === 6 && !client.startsWith('::ffff:')
    ? client.split(':').slice(0, 4).join(':')
    : client
}

function isPrivate(address: string): boolean {
  return /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd]/i.test(address)
}

/** Runs at most `most` at once, and lets `waiting` more wait; undefined for whoever comes then. */
export function openGate(most: number, waiting: number) {
  let running = 0
  const line: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (running >= most) {
      if (line.length >= waiting) return undefined
      await new Promise<void>((resolve) => line.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = line.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
