// A release's state, and its commit, branch, and pull request, in this order. Continues after a crash.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type CommitSha, type TreeSha, toCommitSha, isGitObjectId } from '../pull-request/ids.ts'
import type { ReadyBundleRelease } from './worker/release-pool.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import {
  renderReleaseBody,
  formatReleaseCommitMessage,
  formatReleaseTitle,
  type ReleasePullView,
} from '../report/release-pull.ts'
import { botBranchPrefix, type BotPullRequest, type CommitFile } from '../ports/forge.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { defineStateNamespace } from '../ports/state.ts'

const commitShaSchema = z.string().refine(isGitObjectId).transform(toCommitSha)
const millisecondsSchema = z.number()

const pendingReleaseSchema = z.object({
  /** Below `operators/`. */
  directory: z.string(),
  version: z.string(),
  commit: commitShaSchema,
  since: millisecondsSchema,
  /** Attempts to find its image, and the time of the next one. */
  tries: z.number(),
  again: millisecondsSchema,
  image: z.string().exactOptional(),
  /** The tip it was last computed for. */
  seen: commitShaSchema.exactOptional(),
  /** The commit of the App's branch, recorded before the move. `from`: its previous commit, if the branch existed. */
  head: commitShaSchema.exactOptional(),
  from: commitShaSchema.exactOptional(),
  /** Of the files that `head` writes. */
  digest: z.string().exactOptional(),
  /** Digests of reported news. */
  told: z.array(z.string()).readonly(),
})

const releaseStateSchema = z.object({
  seen: commitShaSchema,
  releasing: z.array(pendingReleaseSchema).readonly(),
})

/** State of a branch's releases: the last commit searched for merged bundles, and the progress of each bundle. */
export type PendingRelease = Readonly<z.infer<typeof pendingReleaseSchema>>

export type ReleaseState = Readonly<z.infer<typeof releaseStateSchema>>

/** By branch name. */
export const releaseStateNamespace = defineStateNamespace('release', 1, releaseStateSchema)

/** Deterministic for each bundle directory. */
export function formatReleaseBranchName(release: Pick<PendingRelease, 'directory' | 'version'>): string {
  return `${botBranchPrefix}${release.directory}/${release.version}`
}

export interface ReleaseBaseBranch {
  readonly branch: string
  readonly tip: CommitSha
  readonly tree: TreeSha
}

/**
 * Opens the pull request, or updates its branch if the content changed. `own`: the existing pull request; a branch that
 * others pushed to is left alone. `saveRelease` is awaited before the branch moves. Rejects with a ForgeError.
 */
export async function openReleasePull(
  entry: PendingRelease,
  release: ReadyBundleRelease & Pick<ReleasePullView, 'image' | 'pull'>,
  base: ReleaseBaseBranch,
  own: BotPullRequest | undefined,
  { forge, repository }: Pick<JobContext, 'forge' | 'repository'>,
  saveRelease: (entry: PendingRelease) => Promise<void>,
): Promise<PendingRelease> {
  const branch = formatReleaseBranchName(entry)
  const view: ReleasePullView = { ...release, ...entry, image: release.image }
  const digest = computeCommitFilesDigest(release.files)
  let next = entry
  if (entry.digest !== digest || entry.head === undefined) {
    const from = own?.head ?? (await fetchBranchTip(branch, repository))
    if (!isBranchUpdatedOnlyByBot(from, entry))
      throw new ForgeError('rejected', `the branch ${branch} was not created by catalog-bot`)
    const { commit: head } = await forge.perform({
      kind: 'write-commit',
      parents: from === undefined ? [base.tip] : [from, base.tip],
      onto: base.tree,
      files: release.files,
      message: formatReleaseCommitMessage(view),
    })
    if (head === undefined) throw new Error('GitHub did not return a commit')
    triggerCrashPoint('release-committed')
    const { from: _, ...rest } = entry
    next = { ...rest, head, digest, ...(from !== undefined && { from }) }
    await saveRelease(next)
  }
  if (next.head !== undefined && own?.head !== next.head) {
    await forge.perform({ kind: 'move-own-branch', branch, from: next.from, to: next.head })
    triggerCrashPoint('release-branched')
  }
  const pullText = { title: formatReleaseTitle(view), body: renderReleaseBody(view) }
  if (own === undefined) {
    await forge.perform({
      kind: 'open-own-pull',
      branch,
      base: base.branch,
      ...pullText,
      draft: !release.isMergedByItself,
    })
    triggerCrashPoint('release-opened')
  } else if (next !== entry) await forge.perform({ kind: 'edit-own-pull', pull: own.pull, ...pullText })
  return next
}

/** Whether only we moved the branch. Absent: no branch exists. */
export function isBranchUpdatedOnlyByBot(
  tip: CommitSha | undefined,
  { head, from }: Pick<PendingRelease, 'head' | 'from'>,
): boolean {
  // After a crash before the move, the branch is at its old commit.
  return tip === undefined || tip === head || tip === from
}

async function fetchBranchTip(
  branch: string,
  repository: JobContext['repository'],
): Promise<CommitSha | undefined> {
  await repository.fetch(branch)
  return repository.tip(branch)
}

function computeCommitFilesDigest(files: readonly CommitFile[]): string {
  const hash = createHash('sha256')
  for (const { path, bytes, isExecutable } of files)
    hash.update(`${JSON.stringify([path, isExecutable, bytes.length])}\n`).update(bytes)
  return hash.digest('hex')
}
