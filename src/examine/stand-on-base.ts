// The first stage: what holds where the pull request would be merged. Its base's tree and configuration, who pushed its
// head as far as deliveries told, and the merge commit that would land, as an object.
import type { TreeSha } from '../change/ids.ts'
import type { Layout } from '../change/layout/layout.ts'
import { pathsOf } from '../change/patched-list.ts'
import type { Snapshot } from '../change/snapshot.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import type { CommandRecord } from '../gate/commands.ts'
import type { MergeOutcome } from '../gate/decide.ts'
import { mergeMessage } from '../messages/merge-message.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { Repository } from '../ports/repository.ts'
import { findLayout } from './find-layout.ts'
import { readConfig } from './read-config.ts'

export interface Standing {
  /** With who pushed the head. */
  readonly snapshot: Snapshot
  readonly baseTree: TreeSha
  readonly entries: Awaited<ReturnType<Repository['list']>>
  readonly basePaths: readonly string[]
  /** Where the catalogs lie at the base. */
  readonly baseLayout: Layout
  readonly config: Config
  readonly configDigest: string
  readonly configFindings: readonly Finding[]
  readonly epoch: number
  readonly merge: MergeOutcome
  /** Commands that were decided on before. */
  readonly onRecord: readonly CommandRecord[]
}

/** Rejects with a GitError or StoreError. */
export async function standOnBase(
  given: Snapshot,
  repository: Repository,
  memory: PullMemory,
): Promise<Standing> {
  const baseTree = await repository.treeOf(given.base)
  const { config, digest: configDigest, findings } = await readConfig(repository, baseTree)
  const snapshot = await withPusher(given, config, memory)
  const { head, baseRef } = snapshot
  const epoch = await memory.observe(snapshot.repository, snapshot.pull, {
    head,
    baseRef,
    config: configDigest,
  })
  // None of these waits for another's answer.
  const [merge, entries, onRecord] = await Promise.all([
    repository.merge(snapshot.base, snapshot.head, mergeMessage(snapshot, config.merge.message)),
    repository.list(baseTree),
    memory.commands(snapshot.repository, snapshot.pull),
  ])
  const basePaths = pathsOf(entries)
  return {
    snapshot,
    baseTree,
    entries,
    basePaths,
    baseLayout: await findLayout(repository, entries, config.catalogs),
    config,
    configDigest,
    configFindings: findings,
    epoch,
    merge,
    onRecord,
  }
}

/**
 * The snapshot with who pushed its head, as our deliveries told (T24). The author stands for what they pushed once,
 * whoever pushed it again. Where deliveries told of other heads, that of this one was lost or has yet to come: nobody is
 * taken for its pusher. Where none ever told, as without webhooks, the configuration says whether that matters.
 */
async function withPusher(snapshot: Snapshot, config: Config, memory: PullMemory): Promise<Snapshot> {
  const { repository, pull, head, author } = snapshot
  if (snapshot.pusher !== undefined || memory.pushersOf === undefined) return snapshot
  const pushers = await memory.pushersOf(repository, pull, head)
  const pusher = pushers.find(({ id }) => id === author?.id) ?? pushers.at(-1)
  if (pusher !== undefined) return { ...snapshot, pusher }
  const waits = config.approvals.confirmUnknownPushes || (await memory.hasSeenPushes?.(repository, pull))
  return waits === true ? { ...snapshot, pusher: null } : snapshot
}
