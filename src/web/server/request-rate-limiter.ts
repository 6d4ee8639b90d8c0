// Limits anonymous requests per address and in total, before they reach the store.
import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { LruMap } from '../../adapters/lru-map.ts'

export interface RequestRateLimiter {
  take(key: string): boolean
}

/** Addresses beyond this are forgotten and start with a full budget. */
const maxTrackedClients = 20_000

/** `perMinute` on average, and as many at once. */
export function createRequestRateLimiter(perMinute: number, now: () => number): RequestRateLimiter {
  const buckets = new LruMap<string, { left: number; at: number }>(
    maxTrackedClients,
    () => 1,
    // Its budget is full again, like that of a new address.
    ({ at }) => now() - at > 60_000,
  )
  return {
    take(key) {
      const bucket = buckets.get(key) ?? { left: perMinute, at: now() }
      const remaining = Math.min(
        perMinute,
        bucket.left + (Math.max(0, now() - bucket.at) / 60_000) * perMinute,
      )
      buckets.set(key, { left: Math.max(0, remaining - 1), at: now() })
      return remaining >= 1
    },
  }
}

/**
 * The client's address, for counting. Behind the administrator's proxy (a private address), only the last forwarded entry is
 * trusted; the client can forge the others.
 */
export function parseClientIpAddress({
  socket,
  headers,
}: Pick<IncomingMessage, 'socket' | 'headers'>): string {
  const peer = socket.remoteAddress ?? ''
  const forwarded = headers['x-forwarded-for']
  const last = (Array.isArray(forwarded) ? forwarded.at(-1) : forwarded)?.split(',').at(-1)?.trim()
  const address = last !== undefined && isPrivateIpAddress(peer) && isIP(last) !== 0 ? last : peer
  // A zone id is arbitrary text.
  const client = address.split('%')[0] ?? ''
  // An IPv6 household has a /64.
  return isIP(client) === 6 && !client.startsWith('::ffff:')
    ? client.split(':').slice(0, 4).join(':')
    : client
}

function isPrivateIpAddress(address: string): boolean {
  return /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd]/i.test(address)
}

/** Runs at most `most` at once and queues `waiting` more; returns undefined beyond that. */
export function createConcurrencyLimiter(maxRunning: number, waiting: number) {
  let running = 0
  const line: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (running >= maxRunning) {
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
