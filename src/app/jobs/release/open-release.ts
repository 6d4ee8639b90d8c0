// Creates the commit, branch and pull request of one release, in this order. After a crash it continues with what it
// finds and creates nothing twice.
import { createHash } from 'node:crypto'
import type { CommitSha, TreeSha } from '../../../change/ids.ts'
import type { ReadyRelease } from '../../../examine/release/release-order.ts'
import { ForgeError } from '../../../github/forge-error.ts'
import { crashPoint } from '../../../landing/crash-point.ts'
import {
  releaseBody,
  releaseCommitMessage,
  releaseTitle,
  type ToldRelease,
} from '../../../messages/release-pull.ts'
import { ownBranchPrefix, type OwnPull, type WrittenFile } from '../../../ports/forge.ts'
import type { JobContext } from '../job-context.ts'
import type { Releasing } from './release-state.ts'

/** Deterministic for each bundle directory. */
export function releaseBranch({ directory, version }: Pick<Releasing, 'directory' | 'version'>): string {
  return `${ownBranchPrefix}${directory}/${version}`
}

export interface Base {
  readonly branch: string
  readonly tip: CommitSha
  readonly tree: TreeSha
}

/**
 * Opens the pull request, or updates its branch if the content changed. `own`: the existing pull request; a branch that
 * others pushed to is left alone. `remember` is awaited before the branch moves. Rejects with a ForgeError.
 */
export async function openRelease(
  entry: Releasing,
  release: ReadyRelease & Pick<ToldRelease, 'image' | 'pull'>,
  base: Base,
  own: OwnPull | undefined,
  { forge, repository }: Pick<JobContext, 'forge' | 'repository'>,
  remember: (entry: Releasing) => Promise<void>,
): Promise<Releasing> {
  const branch = releaseBranch(entry)
  const told: ToldRelease = { ...release, ...entry, image: release.image }
  const digest = digestOfFiles(release.files)
  let next = entry
  if (entry.digest !== digest || entry.head === undefined) {
    const from = own?.head ?? (await tipOf(branch, repository))
    if (!isOurs(from, entry)) throw new ForgeError('rejected', `the branch ${branch} is somebody else's`)
    const { commit: head } = await forge.perform({
      kind: 'write-commit',
      parents: from === undefined ? [base.tip] : [from, base.tip],
      onto: base.tree,
      files: release.files,
      message: releaseCommitMessage(told),
    })
    if (head === undefined) throw new Error('GitHub names no commit')
    crashPoint('release-committed')
    const { from: _, ...rest } = entry
    next = { ...rest, head, digest, ...(from !== undefined && { from }) }
    await remember(next)
  }
  if (next.head !== undefined && own?.head !== next.head) {
    await forge.perform({ kind: 'move-own-branch', branch, from: next.from, to: next.head })
    crashPoint('release-branched')
  }
  const words = { title: releaseTitle(told), body: releaseBody(told) }
  if (own === undefined) {
    await forge.perform({
      kind: 'open-own-pull',
      branch,
      base: base.branch,
      ...words,
      draft: !release.isMergedByItself,
    })
    crashPoint('release-opened')
  } else if (next !== entry) await forge.perform({ kind: 'edit-own-pull', pull: own.pull, ...words })
  return next
}

/** Whether only we moved the branch. Absent: no branch exists. */
export function isOurs(
  tip: CommitSha | undefined,
  { head, from }: Pick<Releasing, 'head' | 'from'>,
): boolean {
  // After a crash before the move, the branch is at its old commit.
  return tip === undefined || tip === head || tip === from
}

async function tipOf(branch: string, repository: JobContext['repository']): Promise<CommitSha | undefined> {
  await repository.fetch(branch)
  return repository.tip(branch)
}

function digestOfFiles(files: readonly WrittenFile[]): string {
  const hash = createHash('sha256')
  for (const { path, bytes, isExecutable } of files)
    hash.update(`${JSON.stringify([path, isExecutable, bytes.length])}\n`).update(bytes)
  return hash.digest('hex')
}
