// The options of an evaluation, and its first stage: reads the base's tree and configuration, finds who pushed the
// head, and creates the merge commit.
import type { Finding } from '@catalog-bot/findings/finding'
import type { TreeSha } from '../pull-request/ids.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import { getTreeEntryPaths } from '../pull-request/incremental-path-list.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Config } from '../config/config.ts'
import type { CommandRecord } from '../policy/command-records.ts'
import type { TestMergeResult } from '../policy/decide.ts'
import { formatMergeMessage } from '../report/merge-message.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import type { GitRepository } from '../ports/repository.ts'
import { readRepositoryLayout } from '../catalogs/find-layout.ts'
import { readConfig } from '../catalogs/read-config.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'
import type { LookupResolver } from '../catalogs/gather-lookup-results.ts'
import type { EvaluationLimits } from '../catalogs/reader-pool.ts'

export interface EvaluatePullOptions {
  readonly repository: GitRepository
  readonly loader: CatalogLoader
  readonly ask: LookupResolver
  readonly memory: PullHistoryStore
  /** Absent where the list is unavailable, as in an offline check. */
  readonly openPulls?: () => Promise<readonly OpenPullSummary[]>
  readonly demandsSignatures?: boolean
  /** Path to the administrator's opm. If absent, only catalog-bot's own catalog server is used. */
  readonly opm?: string
  readonly budget?: EvaluationLimits
}

export interface BaseBranchState {
  /** Includes who pushed the head. */
  readonly snapshot: PullSnapshot
  readonly baseTree: TreeSha
  readonly entries: Awaited<ReturnType<GitRepository['list']>>
  readonly basePaths: readonly string[]
  readonly baseLayout: RepositoryLayout
  readonly config: Config
  readonly configDigest: string
  readonly configFindings: readonly Finding[]
  readonly epoch: number
  readonly merge: TestMergeResult
  readonly recordedCommands: readonly CommandRecord[]
}

/** The first stage. Rejects with a GitError or StoreError. */
export async function loadBaseBranchState(
  given: PullSnapshot,
  repository: GitRepository,
  memory: PullHistoryStore,
): Promise<BaseBranchState> {
  const baseTree = await repository.treeOf(given.base)
  const { config, digest: configDigest, findings } = await readConfig(repository, baseTree)
  const { head, base, baseRef, pull } = given
  const [snapshot, epoch, merge, entries, recordedCommands] = await Promise.all([
    addPusherToSnapshot(given, config, memory),
    memory.observe(given.repository, pull, { head, baseRef, config: configDigest }),
    repository.merge(base, head, formatMergeMessage(given, config.merge.message)),
    repository.list(baseTree),
    memory.commands(given.repository, pull),
  ])
  const basePaths = getTreeEntryPaths(entries)
  return {
    snapshot,
    baseTree,
    entries,
    basePaths,
    baseLayout: await readRepositoryLayout(repository, entries, config.catalogs),
    config,
    configDigest,
    configFindings: findings,
    epoch,
    merge,
    recordedCommands,
  }
}

/**
 * Adds who pushed the head, from webhook deliveries (T24). A head that its author once pushed stays the author's, even
 * when another account pushes it again. If only other heads' deliveries arrived, the pusher is null. Without any
 * deliveries, the configuration decides whether that matters.
 */
async function addPusherToSnapshot(
  snapshot: PullSnapshot,
  config: Config,
  memory: PullHistoryStore,
): Promise<PullSnapshot> {
  const { repository, pull, head, author } = snapshot
  if (snapshot.pusher !== undefined || memory.listPushers === undefined) return snapshot
  const pushers = await memory.listPushers(repository, pull, head)
  const pusher = pushers.find(({ id }) => id === author?.id) ?? pushers.at(-1)
  if (pusher !== undefined) return { ...snapshot, pusher }
  const waits = config.approvals.confirmUnknownPushes || (await memory.hasSeenPushes?.(repository, pull))
  return waits === true ? { ...snapshot, pusher: null } : snapshot
}
