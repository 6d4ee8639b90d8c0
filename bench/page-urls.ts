// Measures the memory of the pages after many distinct URLs, each with a long query. None of them may create a cache
// entry. The store and the connections are fakes, and everything else is real. Usage: node --expose-gc
// bench/page-urls.ts [--addresses 12000]. Exits with 1 if the heap grew by more than 40 MB.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { createPagesHandler } from '../src/web/server/pages-handler.ts'
import { readSettings } from '../src/jobs/settings.ts'
import { systemClock } from '../src/adapters/system-clock.ts'
import type { Store } from '../src/ports/store.ts'

const { values } = parseArgs({ options: { addresses: { type: 'string', default: '12000' } } })
const fakeStore = { listedRepositories: () => Promise.resolve([]) } as Partial<Store> as Store
const logger = pino({ level: 'error' })
const statusPagesHandler = createPagesHandler({
  settings: readSettings({}),
  store: fakeStore,
  clock: systemClock,
  log: logger,
})
const observedHttpStatuses = new Set<number>()

async function requestStatusPages(round: number): Promise<void> {
  const request = {
    url: `/rules/no-icon?before=${String(round).padEnd(15_000, 'x')}`,
    method: 'GET',
    // Each request has a different client address, like requests from a botnet.
    headers: { 'x-forwarded-for': `10.${round >> 16}.${(round >> 8) & 255}.${round & 255}` },
    socket: { remoteAddress: '127.0.0.1' },
  } as unknown as IncomingMessage
  const response = {
    writeHead(status: number) {
      observedHttpStatuses.add(status)
      return this
    },
    end() {
      return this
    },
  } as unknown as ServerResponse
  await statusPagesHandler?.(request, response)
}

function measureMemoryMegabytes() {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss: Math.round(rss / 1e6), heap: Math.round(heapUsed / 1e6) }
}

for (let round = 0; round < 50; round++) await requestStatusPages(round)
const memoryMegabytesBefore = measureMemoryMegabytes()
for (let round = 50; round < 50 + Number(values.addresses); round++) await requestStatusPages(round)
const memoryMegabytesAfter = measureMemoryMegabytes()
console.log(
  `${values.addresses} addresses: RSS ${memoryMegabytesBefore.rss} to ${memoryMegabytesAfter.rss} MB, heap ${memoryMegabytesBefore.heap} to ${memoryMegabytesAfter.heap} MB (answers: ${[...observedHttpStatuses].join(', ')})`,
)
process.exitCode =
  memoryMegabytesAfter.heap - memoryMegabytesBefore.heap > 40 ||
  observedHttpStatuses.size !== 1 ||
  !observedHttpStatuses.has(200)
    ? 1
    : 0
