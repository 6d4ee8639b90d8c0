// Schedules evaluations in processes so that no pull request blocks another. Three lanes in order of urgency: pull requests
// that are small by GitHub's numbers, all others, and slow ones. A long evaluation yields when others wait in its lane, and
// restarts in the next lane. A process is reused only for the same repository, because its start and cache cost as much
// as an evaluation. Its caches are keyed by content (blob and tree ids). It issues no permit, and ends after an evaluation that
// failed, was too large or took long (evaluation-process.ts freezes shared prototypes).
import { type PullSnapshot, toPullRequestKey, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { PullSize } from '../../ports/forge.ts'
import { findWorkerScript, isResourceLimitFault } from '../../adapters/workers/start-worker.ts'
import { WorkerPool } from '../../adapters/workers/worker-pool.ts'
import type { EvaluationLimits } from '../../catalogs/reader-pool.ts'
import type { EvaluationResponse, EvaluationRequest, WorkerCallbackRequest } from '../pull-evaluation.ts'
import { LruMap } from '../../adapters/lru-map.ts'

/** Answers a process's questions. Rejects with an internal failure. */
export type WorkerCallbackHandler = (request: WorkerCallbackRequest) => Promise<unknown>

export interface EvaluationPool {
  /** Rejects with the error of `answer`, or when a process failed. Hints affect scheduling only. */
  evaluate(
    order: EvaluationRequest,
    answer: WorkerCallbackHandler,
    hints?: EvaluationSchedulingHints,
  ): Promise<EvaluationResponse>
  /** Starts a process for the repository if it has none, while the evaluation's input is read. */
  prepare?(repository: PullSnapshot['repository']): void
  /** Whether an evaluation should be cheap, by GitHub's numbers and earlier evaluations. */
  isSmall(pull: PullRequestAndAuthor, size?: Partial<PullSize>): boolean
  close(): Promise<void>
}

export interface EvaluationSchedulingHints {
  /** Whether it goes before others that wait, because a merge waits for it. */
  readonly isUrgent?: boolean
  readonly size?: PullSize | undefined
  /** Called when it takes longer than expected. */
  readonly onLong?: (() => void) | undefined
}

/** The part of the time limit in the first two lanes when no other evaluation waits: enough for a large cached catalog. */
const smallAndLargeLaneTimeFraction = 1 / 3
/** CPU milliseconds for a small evaluation while others wait: twice its usual cost, process start included. */
const smallLaneCpuLimitMs = 1500
/** CPU milliseconds for a large evaluation while others wait: enough for a whole new catalog. */
const largeLaneCpuLimitMs = 5000
/** Megabytes of heap in the first two lanes, which run several processes at once. */
const smallAndLargeLaneHeapMegabytes = 1024
const maxCachedLaneAssignments = 5000
const maxLargeLaneProcesses = 2
const maxSlowLaneProcesses = 2
/** Lower priority than the process that answers deliveries. */
const nicenessByLane = { small: 5, large: 14, slow: 19 } as const
/** Milliseconds to wait for a process that knows the repository: a new one takes seconds of CPU time on a large one. */
const warmWorkerWaitMsByLane = { small: 4000, large: 0, slow: 0 } as const
/** Each waiting evaluation holds a snapshot. */
const maxWaitingEvaluations = 1000
/** Milliseconds that an idle process waits for another evaluation of its repository. */
const maxEvaluationProcessIdleMs = 5 * 60_000
/** Evaluations per process, to bound leaks. */
const maxEvaluationsPerProcess = 200
/** Well above an update of some packages in some catalogs. Beyond it only the lane changes. */
const maxSmallLanePullSize: PullSize = { files: 300, lines: 15_000, comments: 300 }
const evaluationLanes = ['small', 'large', 'slow'] as const
type EvaluationLane = (typeof evaluationLanes)[number]

export function createEvaluationPool(budget: EvaluationLimits, processes: number): EvaluationPool {
  const heap = Math.min(smallAndLargeLaneHeapMegabytes, budget.memory)
  const pools = {
    small: createLaneWorkerPool('small', { processes, heap, displaceAfterMs: smallLaneCpuLimitMs }),
    large: createLaneWorkerPool('large', {
      processes: maxLargeLaneProcesses,
      heap,
      displaceAfterMs: largeLaneCpuLimitMs,
    }),
    slow: createLaneWorkerPool('slow', { processes: maxSlowLaneProcesses, heap: budget.memory }),
  }
  const quick = budget.time * smallAndLargeLaneTimeFraction
  const time = { small: quick, large: quick, slow: budget.time }
  /** The lane in which a pull request's next evaluation begins. */
  const known = new LruMap<string, EvaluationLane>(maxCachedLaneAssignments, () => 1)
  /** Authors with a slow pull request: their next ones wait behind others. */
  const costly = new LruMap<string, true>(maxCachedLaneAssignments, () => 1)

  function laneOf(pull: PullRequestAndAuthor, size: Partial<PullSize>): EvaluationLane {
    const before = known.get(toPullRequestKey(pull.repository, pull.pull))
    if (before !== undefined) return before
    const { files = 0, lines = 0, comments = 0 } = size
    const isSmall =
      files <= maxSmallLanePullSize.files &&
      lines <= maxSmallLanePullSize.lines &&
      comments <= maxSmallLanePullSize.comments
    return isSmall && costly.get(toRepositoryAndAuthorKey(pull)) === undefined ? 'small' : 'large'
  }

  return {
    prepare: (repository) => pools.small.prepare(toRepositoryKey(repository)),
    isSmall: (pull, size = {}) => laneOf(pull, size) === 'small',
    async evaluate(order, answer, { isUrgent, size, onLong } = {}) {
      const { snapshot } = order
      const key = toRepositoryKey(snapshot.repository)
      for (
        let lane = laneOf(snapshot, { comments: snapshot.comments.length, ...size });
        ;
        lane = evaluationLanes[evaluationLanes.indexOf(lane) + 1] ?? 'slow'
      )
        try {
          return await pools[lane].run(
            order,
            time[lane],
            (request) => answer(request as WorkerCallbackRequest),
            key,
            isUrgent,
          )
        } catch (error) {
          if (!isResourceLimitFault(error)) throw error
          if (lane === 'slow')
            return {
              kind: 'too-large',
              why: `checking the change takes more than ${error.code === 'too-slow' ? `${Math.round(budget.time / 1000)} seconds` : `${budget.memory} MB of memory`}`,
            }
          known.set(toPullRequestKey(snapshot.repository, snapshot.pull), lane === 'small' ? 'large' : 'slow')
          costly.set(toRepositoryAndAuthorKey(snapshot), true)
          onLong?.()
        }
    },
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.close()))
    },
  }
}

function createLaneWorkerPool(
  lane: EvaluationLane,
  limits: { readonly processes: number; readonly heap: number; readonly displaceAfterMs?: number },
) {
  return new WorkerPool<EvaluationRequest, EvaluationResponse>({
    script: findWorkerScript('evaluation-process', import.meta.url),
    hasChildren: true,
    maxWaiting: maxWaitingEvaluations,
    maxIdleMs: maxEvaluationProcessIdleMs,
    growAfterMs: warmWorkerWaitMsByLane[lane],
    maxOrders: maxEvaluationsPerProcess,
    isPartitionedByKey: true,
    canReuse: ({ kind }, milliseconds) => kind === 'seen' && milliseconds < largeLaneCpuLimitMs,
    niceness: nicenessByLane[lane],
    ...limits,
  })
}

type PullRequestAndAuthor = Pick<PullSnapshot, 'repository' | 'pull' | 'author'>

function toRepositoryAndAuthorKey({ repository, author }: PullRequestAndAuthor): string {
  return `${toRepositoryKey(repository)} ${author?.id ?? 'nobody'}`
}
