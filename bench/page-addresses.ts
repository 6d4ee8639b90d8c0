// How much memory the pages hold after many distinct addresses, each with a long query: none of them may make a cache entry.
// The store and the connections are fakes; all the rest is the pages'.
// usage: node --expose-gc bench/page-addresses.ts [--addresses 12000]   exit 1 where the heap grew by more than 40 MB
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { openPages } from '../src/app/pages/open-pages.ts'
import { readSettings } from '../src/app/settings.ts'
import { systemClock } from '../src/examine/system-clock.ts'
import type { Store } from '../src/ports/store.ts'

const { values } = parseArgs({ options: { addresses: { type: 'string', default: '12000' } } })
const store = { listedRepositories: () => Promise.resolve([]) } as Partial<Store> as Store
const log = pino({ level: 'error' })
const pages = openPages({ settings: readSettings({}), store, clock: systemClock, log })
const statuses = new Set<number>()

async function ask(turn: number): Promise<void> {
  const request = {
    url: `/rules/no-icon?before=${String(turn).padEnd(15_000, 'x')}`,
    method: 'GET',
    // Each from a different client address, as from a botnet.
    headers: { 'x-forwarded-for': `10.${turn >> 16}.${(turn >> 8) & 255}.${turn & 255}` },
    socket: { remoteAddress: '127.0.0.1' },
  } as unknown as IncomingMessage
  const response = {
    writeHead(status: number) {
      statuses.add(status)
      return this
    },
    end() {
      return this
    },
  } as unknown as ServerResponse
  await pages?.(request, response)
}

function megabytes() {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss: Math.round(rss / 1e6), heap: Math.round(heapUsed / 1e6) }
}

for (let turn = 0; turn < 50; turn++) await ask(turn)
const before = megabytes()
for (let turn = 50; turn < 50 + Number(values.addresses); turn++) await ask(turn)
const after = megabytes()
console.log(
  `${values.addresses} addresses: RSS ${before.rss} to ${after.rss} MB, heap ${before.heap} to ${after.heap} MB (answers: ${[...statuses].join(', ')})`,
)
process.exitCode = after.heap - before.heap > 40 || statuses.size !== 1 || !statuses.has(200) ? 1 : 0
