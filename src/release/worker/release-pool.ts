// Runs release work in a process, one at a time: releases aren't urgent, and each may need several large catalogs.
import { findWorkerScript } from '../../adapters/workers/start-worker.ts'
import { WorkerPool } from '../../adapters/workers/worker-pool.ts'
import type { EvaluationLimits } from '../../catalogs/reader-pool.ts'
import type { ComparableBundle } from '@catalog-bot/bundle/render/render-bundle'
import type { TreeSha } from '../../pull-request/ids.ts'
import type { Config } from '../../config/config.ts'
import type { GitErrorResponse } from '../../adapters/git/git-error.ts'
import type { DescriptionLine } from '../../report/describe-change.ts'
import type { CommitFile } from '../../ports/forge.ts'

export interface ReleaseRequest {
  /** The folder of the repository's mirror, which has the tree. */
  readonly mirror: string
  /** The tree of the base branch's tip. */
  readonly tree: TreeSha
  /** The package's directory below `operators/`. */
  readonly directory: string
  /** The name of the bundle's directory. */
  readonly version: string
  /** Absent: not known yet. */
  readonly image?: BundleImage
  /** The base branch's configuration, which the resulting catalogs must satisfy. */
  readonly config: Pick<Config, 'rules' | 'opm'>
  readonly budget: EvaluationLimits
}

export interface BundleImage {
  /** By digest. */
  readonly reference: string
  /** Absent where opm cannot read the image as a bundle. */
  readonly content?: ComparableBundle | undefined
}

/** Reasons are clauses for users, without a period. */
export type ReleaseResult =
  /** The catalogs already have it. */
  | { readonly kind: 'done' }
  /** The bundle asks for no release. */
  | { readonly kind: 'unwanted'; readonly why: string }
  /** A user must fix something first. `isImage`: the problem is the image, which might be pushed again. */
  | { readonly kind: 'refused'; readonly why: string; readonly isImage?: true }
  /** Waits for its image. */
  | { readonly kind: 'awaited' }
  | ({ readonly kind: 'ready' } & ReadyBundleRelease)

export interface ReadyBundleRelease {
  readonly name: string
  readonly package: string
  /** Whether the bundle's settings allow merging its release automatically. */
  readonly isMergedByItself: boolean
  /** At least one. */
  readonly files: readonly CommitFile[]
  /** The changes in catalog terms. */
  readonly lines: readonly DescriptionLine[]
  readonly graph?: string
}

export type ReleaseResponse = ReleaseResult | GitErrorResponse

export interface ReleaseWorkerPool {
  /** Rejects when the process failed, or when the queue is full. */
  computeRelease(order: ReleaseRequest): Promise<ReleaseResponse>
  close(): Promise<void>
}

/** Milliseconds that an idle process waits for another order. */
const maxReleaseWorkerIdleMs = 60_000
const maxQueuedReleaseRequests = 100
/** Restarts the process to bound leaks. */
const maxRequestsPerReleaseWorker = 50

export function createReleaseWorkerPool({ memory, time }: EvaluationLimits): ReleaseWorkerPool {
  const pool = new WorkerPool<ReleaseRequest, ReleaseResponse>({
    script: findWorkerScript('release-process', import.meta.url),
    hasChildren: true,
    processes: 1,
    isPartitionedByKey: true,
    maxWaiting: maxQueuedReleaseRequests,
    maxOrders: maxRequestsPerReleaseWorker,
    maxIdleMs: maxReleaseWorkerIdleMs,
    heap: memory,
    niceness: 10,
    onFault(fault) {
      if (fault.code === 'too-slow') return { kind: 'refused', why: 'computing the release takes too long' }
      if (fault.code === 'too-much-memory')
        return { kind: 'refused', why: 'computing the release takes too much memory' }
      throw fault
    },
  })
  return {
    computeRelease: (order) => pool.run(order, time, undefined, order.mirror),
    close: () => pool.close(),
  }
}
