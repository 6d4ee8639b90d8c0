// Gives looks to processes, such that one pull request keeps no other waiting. There are three lanes, each less urgent than
// the one before: for pull requests that GitHub says are small, for all others, and for those that turned out to take
// long. A look that goes on while others wait in its lane gives way to them, and begins anew in the next lane.
//
// A process that has looked at a stranger's bytes looks at those of the same repository again, for its start and what it
// read cost as much as a look. What it keeps is found by content (facts by blob id, catalogs and differences by tree
// id): whose look it was read for makes no difference. It has no other state to leave behind, mints no permit, and ends
// after a look that failed, was too large or took long (look-process.ts seals what all objects share).
import { extname } from 'node:path'
import type { Snapshot } from '../../change/snapshot.ts'
import { pullKey, repositoryKey } from '../../change/repository-key.ts'
import type { PullSize } from '../../ports/forge.ts'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import type { LookBudget } from './look-budget.ts'
import type { LookAnswer, LookOrder, LookRequest } from './look-order.ts'
import { LruMap } from '../catalogs/lru-map.ts'

/** Says what a process asks. Rejects with a failure of ours. */
export type AnswerLook = (request: LookRequest) => Promise<unknown>

export interface LookPool {
  /**
   * What there is to see, or why it cannot be. Rejects with what `answer` rejected with, or when a process failed. The hints
   * say who waits for whom and nothing else.
   */
  look(order: LookOrder, answer: AnswerLook, hints?: LookHints): Promise<LookAnswer>
  /** Whether a look is expected to take little, by what one request tells and by what earlier looks took. */
  isSmall(pull: AboutPull, size?: Partial<PullSize>): boolean
  close(): Promise<void>
}

export interface LookHints {
  /** As GitHub tells it. */
  readonly size?: PullSize | undefined
  /** Called when it takes longer than was expected of it. */
  readonly onLong?: (() => void) | undefined
}

/** Milliseconds of work in the first two lanes where nobody waits: enough for a large catalog that was seen before. */
const quickTime = 20_000
/** Milliseconds of the processor for a small look while others wait: twice what starting a process and it take. */
const shortTime = 1500
/** The same for a large one: a whole catalog that is new. */
const largeTime = 5000
/** Megabytes of heap in the first two lanes: there are several processes at once. */
const quickHeap = 1024
/** Pull requests and authors whose looks took long are known. */
const rememberedSlow = 5000
const largeProcesses = 2
const slowProcesses = 2
/** Less urgent than the process that answers deliveries; the last lanes take what the others leave of the processor. */
const niceness = { small: 5, large: 14, slow: 19 } as const
/** Milliseconds: a process that looked before looks again in a fifth of what another one takes to start. */
const patience = { small: 500, large: 0, slow: 0 } as const
/** Looks that wait hold a snapshot each. */
const mostWaiting = 1000
/** Milliseconds that a process waits for another look at its repository. */
const longestRest = 5 * 60_000
/** Looks of one process: what may have gathered in it goes. */
const mostLooks = 200

/** An update of some packages in some catalogs is well below; beyond it only the lane is another. */
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
  /** The lane in which a pull request's next look begins: further on than its size says. */
  const known = new LruMap<string, Lane>(rememberedSlow, () => 1)
  /** Authors one of whose pull requests took long: they wait behind others with the next one, too. */
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

type AboutPull = Pick<Snapshot, 'repository' | 'pull' | 'author'>

function authorKeyOf({ repository, author }: AboutPull): string {
  return `${repositoryKey(repository)} ${author?.id ?? 'nobody'}`
}
