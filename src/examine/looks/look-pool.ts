// Gives looks to processes, such that one pull request keeps no other waiting: each look begins at once and quickly, one
// that goes on while others wait gives way to them, and goes on beside them in a slow lane of its own.
import { extname } from 'node:path'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { PullNumber } from '../../change/ids.ts'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import type { LookBudget } from './look-budget.ts'
import type { LookAnswer, LookOrder, LookRequest } from './look-order.ts'
import { LruMap } from '../catalogs/lru-map.ts'

/** Says what a process asks. Rejects with a failure of ours. */
export type AnswerLook = (request: LookRequest) => Promise<unknown>

export interface LookPool {
  /** What there is to see, or why it cannot be. Rejects with what `answer` rejected with, or when a process failed. */
  look(order: LookOrder, answer: AnswerLook): Promise<LookAnswer>
  close(): Promise<void>
}

/** Milliseconds of work in the quick lane where nobody waits: enough for a large catalog that was seen before. */
const quickTime = 20_000
/** Milliseconds of the processor in the quick lane while somebody waits: twice what starting a process and a small look take. */
const shortTime = 1500
/** Megabytes of heap in the quick lane: there are several of them at once. */
const quickHeap = 1024
/** Pull requests that are known to be slow go to their lane at once. */
const rememberedSlow = 5000
const slowProcesses = 2
/** The slow lane takes what the others leave of the processor. */
const slowNiceness = 15
/** Looks that wait hold a snapshot each. */
const mostWaiting = 1000

export function openLookPool(budget: LookBudget, processes: number): LookPool {
  const script = new URL(`./look-process${extname(import.meta.url)}`, import.meta.url)
  const kind = { script, hasChildren: true, mostWaiting, longestRest: 60_000 }
  const quick = openWorkerPool<LookOrder, LookAnswer>({
    ...kind,
    heap: Math.min(quickHeap, budget.memory),
    // Less urgent than the process that answers deliveries.
    niceness: 5,
    processes,
    displacedAfter: shortTime,
  })
  const slow = openWorkerPool<LookOrder, LookAnswer>({
    ...kind,
    heap: budget.memory,
    niceness: slowNiceness,
    processes: slowProcesses,
  })
  const known = new LruMap<string, true>(rememberedSlow, () => 1)

  return {
    async look(order, answer) {
      const { repository, pull } = order.snapshot
      const key = nameOf(repository)
      const asked = listening(answer)
      const pullKey = `${key}#${pull satisfies PullNumber}`
      if (known.get(pullKey) === undefined)
        try {
          return await quick.run(order, Math.min(quickTime, budget.time), asked.call, key)
        } catch (error) {
          if (!takesLong(error)) throw asked.failure() ?? error
          known.set(pullKey, true)
        }
      try {
        return await slow.run(order, budget.time, asked.call, key)
      } catch (error) {
        const why = whyTooLarge(error, budget)
        if (why !== undefined) return { kind: 'too-large', why }
        throw asked.failure() ?? error
      }
    },
    close: async () => {
      await Promise.all([quick.close(), slow.close()])
    },
  }
}

/** What fails on our side is told as it is: only its words reach the process that asked. */
function listening(answer: AnswerLook) {
  let failed: { readonly error: unknown } | undefined
  return {
    call: async (request: unknown) => {
      try {
        return await answer(request as LookRequest)
      } catch (error) {
        failed ??= { error }
        throw error
      }
    },
    failure: () => failed?.error,
  }
}

function takesLong(error: unknown): boolean {
  return error instanceof WorkerFault && ['too-slow', 'too-much-memory', 'displaced'].includes(error.code)
}

function whyTooLarge(error: unknown, { time, memory }: LookBudget): string | undefined {
  if (!(error instanceof WorkerFault)) return undefined
  if (error.code === 'too-slow') return `checking it takes more than ${Math.round(time / 1000)} seconds`
  if (error.code === 'too-much-memory') return `checking it takes more than ${memory} MB of memory`
  return undefined
}

function nameOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase()
}
