// Schedules looks in processes so that no pull request blocks another. Three lanes in order of urgency: pull requests
// that are small by GitHub's numbers, all others, and slow ones. A long look yields when others wait in its lane, and
// restarts in the next lane. A process is reused only for the same repository, because its start and cache cost as much
// as a look. Its caches are keyed by content (blob and tree ids). It issues no permit, and ends after a look that
// failed, was too large or took long (look-process.ts freezes shared prototypes).
import { extname } from 'node:path'
import type { Snapshot } from '../../change/snapshot.ts'
import { pullKey, repositoryKey } from '../../change/repository-key.ts'
import type { PullSize } from '../../ports/forge.ts'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import type { LookBudget } from './look-budget.ts'
import type { LookAnswer, LookOrder, LookRequest } from './look-order.ts'
import { LruMap } from '../catalogs/lru-map.ts'

/** Answers a process's questions. Rejects with a failure of ours. */
export type AnswerLook = (request: LookRequest) => Promise<unknown>

export interface LookPool {
  /** Rejects with the error of `answer`, or when a process failed. Hints affect scheduling only. */
  look(order: LookOrder, answer: AnswerLook, hints?: LookHints): Promise<LookAnswer>
  /** Whether a look should be cheap, by GitHub's numbers and earlier looks. */
  isSmall(pull: AboutPull, size?: Partial<PullSize>): boolean
  close(): Promise<void>
}

export interface LookHints {
  /** As GitHub reports it. */
  readonly size?: PullSize | undefined
  /** Called when it takes longer than expected. */
  readonly onLong?: (() => void) | undefined
}

/** Milliseconds of work in the first two lanes when no other look waits: enough for a large cached catalog. */
const quickTime = 20_000
/** CPU milliseconds for a small look while others wait: twice its usual cost, process start included. */
const shortTime = 1500
/** CPU milliseconds for a large look while others wait: enough for a whole new catalog. */
const largeTime = 5000
/** Megabytes of heap in the first two lanes, which run several processes at once. */
const quickHeap = 1024
const rememberedSlow = 5000
const largeProcesses = 2
const slowProcesses = 2
/** Lower priority than the process that answers deliveries. */
const niceness = { small: 5, large: 14, slow: 19 } as const
/** Milliseconds to wait for a process that knows the repository: it is five times faster than a new one. */
const patience = { small: 500, large: 0, slow: 0 } as const
/** Each waiting look holds a snapshot. */
const mostWaiting = 1000
/** Milliseconds that an idle process waits for another look at its repository. */
const longestRest = 5 * 60_000
/** Looks per process, to bound leaks. */
const mostLooks = 200

/** Well above an update of some packages in some catalogs. Beyond it only the lane changes. */
const smallSize: PullSize = { files: 300, lines: 15_000, comments: 300 }

const lanes = ['small', 'large', 'slow'] as const
type Lane = (typeof lanes)[number]

export function openLookPool(budget: LookBudget, processes: number): LookPool {
  const script = new URL(`./look-process${extname(import.meta.url)}`, import.meta.url)
  const open = (lane: Lane, at: number, heap: number, displacedAfter?: number) =>
    openWorkerPool<LookOrder, LookAnswer>({
      script,
      hasChildren: true,
      mostWaiting,
      longestRest,
      growsAfter: patience[lane],
      mostOrders: mostLooks,
      isForOneKey: true,
      staysFit: ({ kind }, milliseconds) => kind === 'seen' && milliseconds < largeTime,
      heap: Math.min(heap, budget.memory),
      niceness: niceness[lane],
      processes: at,
      ...(displacedAfter !== undefined && { displacedAfter }),
    })
  const pools = {
    small: open('small', processes, quickHeap, shortTime),
    large: open('large', largeProcesses, quickHeap, largeTime),
    slow: open('slow', slowProcesses, budget.memory),
  }
  const quick = Math.min(quickTime, budget.time)
  const time = { small: quick, large: quick, slow: budget.time }
  /** The lane in which a pull request's next look begins. */
  const known = new LruMap<string, Lane>(rememberedSlow, () => 1)
  /** Authors with a slow pull request: their next ones wait behind others. */
  const costly = new LruMap<string, true>(rememberedSlow, () => 1)

  function laneOf(pull: AboutPull, size: Partial<PullSize>): Lane {
    const before = known.get(pullKey(pull.repository, pull.pull))
    if (before !== undefined) return before
    const { files = 0, lines = 0, comments = 0 } = size
    const isSmall = files <= smallSize.files && lines <= smallSize.lines && comments <= smallSize.comments
    return isSmall && costly.get(authorKeyOf(pull)) === undefined ? 'small' : 'large'
  }

  return {
    isSmall: (pull, size = {}) => laneOf(pull, size) === 'small',
    async look(order, answer, { size, onLong } = {}) {
      const { snapshot } = order
      const key = repositoryKey(snapshot.repository)
      const asked = listening(answer)
      for (
        let lane = laneOf(snapshot, { comments: snapshot.comments.length, ...size });
        ;
        lane = lanes[lanes.indexOf(lane) + 1] ?? 'slow'
      )
        try {
          return await pools[lane].run(order, time[lane], asked.call, key)
        } catch (error) {
          const why = lane === 'slow' ? whyTooLarge(error, budget) : undefined
          if (why !== undefined) return { kind: 'too-large', why }
          if (lane === 'slow' || !takesLong(error)) throw asked.failure() ?? error
          known.set(pullKey(snapshot.repository, snapshot.pull), lane === 'small' ? 'large' : 'slow')
          costly.set(authorKeyOf(snapshot), true)
          onLong?.()
        }
    },
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.close()))
    },
  }
}

/** Only the error's message reaches the process, so the original error is kept here. */
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

type AboutPull = Pick<Snapshot, 'repository' | 'pull' | 'author'>

function authorKeyOf({ repository, author }: AboutPull): string {
  return `${repositoryKey(repository)} ${author?.id ?? 'nobody'}`
}
