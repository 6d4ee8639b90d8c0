// Our pull request for one release: the commit on GitHub, the branch, the pull request, in this order. Killed between two
// of them and run again, it goes on where it was: what is there is found, and nothing is made twice.
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

/** One for each bundle directory, always the same. */
export function releaseBranch({ directory, version }: Pick<Releasing, 'directory' | 'version'>): string {
  return `${ownBranchPrefix}${directory}/${version}`
}

export interface Base {
  readonly branch: string
  readonly tip: CommitSha
  readonly tree: TreeSha
}

/**
 * Opens the pull request, or renews its branch where something else is to be written now. `own`: the pull request as it
 * is; whoever else has pushed to its branch has it for themselves. `remember` is waited for before the branch is moved.
 * Rejects with a ForgeError.
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

/** Whether nobody but us moved the branch there; absent: there is none. */
export function isOurs(
  tip: CommitSha | undefined,
  { head, from }: Pick<Releasing, 'head' | 'from'>,
): boolean {
  // Killed before it was moved, it is where it was.
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
