// The other open pull requests that a merge would close, and what becomes of their content. GitHub marks a pull request
// as merged when its head becomes reachable from its base branch, regardless of its tree.
import type { CarriedCommits, ClosedPull } from '../change/carried-commits.ts'
import type { TreeSha } from '../change/ids.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { heldBy } from '../gate/commands.ts'
import type { OpenPull } from '../ports/forge.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { ReadTree, Repository } from '../ports/repository.ts'

/** Each one costs a merge. Beyond this, their content counts as lost. */
const mostMerged = 20

export interface MetPull {
  readonly open: OpenPull
  readonly by: ClosedPull['by']
}

/**
 * False where no other pull request can be affected: a single commit is the head itself, and closes only pull requests
 * with the same content. Saves most looks the request for the list.
 */
export function mayMeetPulls({ commits }: CarriedCommits): boolean {
  return commits.length > 1 || commits.some(({ closes }) => closes === undefined || closes.length > 0)
}

/** The open pull requests that merging `snapshot` would close, by number. */
export function pullsMet(
  open: readonly OpenPull[],
  { commits }: CarriedCommits,
  { repository, pull, baseRef }: Pick<Snapshot, 'repository' | 'pull' | 'baseRef'>,
): readonly MetPull[] {
  const heads = new Set<string>(commits.map(({ id }) => id))
  const here = repositoryKey(repository)
  const named = new Set(
    commits
      .flatMap(({ closes = [] }) => closes)
      .filter(({ repository: where = here }) => where === here)
      .map(({ number }) => number),
  )
  return open
    .filter((other) => other.pull !== pull)
    .flatMap((other): MetPull[] => {
      // A pull request for another branch stays open.
      if (other.baseRef === baseRef && heads.has(other.head)) return [{ open: other, by: 'commits' }]
      return named.has(other.pull) ? [{ open: other, by: 'words' }] : []
    })
    .sort((a, b) => a.open.pull - b.open.pull)
}

export interface ClosedPullPlaces {
  readonly repository: Pick<Repository, 'merge' | 'diff'>
  readonly look: Pick<ReadTree, 'entry'>
  readonly memory: Pick<PullMemory, 'commands'>
  readonly blockingLabels: readonly string[]
  readonly baseTree: TreeSha
  readonly result: TreeSha
}

/** Rejects with a GitError or StoreError. */
export async function closedPulls(
  met: readonly MetPull[],
  snapshot: Snapshot,
  places: ClosedPullPlaces,
): Promise<readonly ClosedPull[]> {
  const closed: ClosedPull[] = []
  for (const [at, { open, by }] of met.entries()) {
    const heldBack = await reasonToWait(open, snapshot, places)
    closed.push({
      pull: open.pull,
      by,
      isOwn: open.author !== null && open.author === snapshot.author?.id,
      isKept: by === 'commits' && at < mostMerged && (await isKept(open, snapshot, places)),
      ...(heldBack !== undefined && { heldBack }),
    })
  }
  return closed
}

async function reasonToWait(
  open: OpenPull,
  { repository }: Snapshot,
  { memory, blockingLabels }: ClosedPullPlaces,
): Promise<string | undefined> {
  if (open.draft) return 'it is a draft'
  const blocking = new Set(blockingLabels.map((label) => label.toLowerCase()))
  const label = open.labels.find((name) => blocking.has(name.toLowerCase()))
  if (label !== undefined) return `the label "${label}" holds it back`
  const holder = heldBy(await memory.commands(repository, open.pull), undefined)
  return holder && `${holder.login} holds it back with /hold`
}

/** Whether the result has everything that the other pull request changes. */
async function isKept(
  { head }: OpenPull,
  { base }: Snapshot,
  { repository, look, baseTree, result }: ClosedPullPlaces,
): Promise<boolean> {
  // The fetched head includes its commits.
  const merged = await repository.merge(base, head, `Merge ${head}\n`)
  if (merged.kind !== 'clean') return false
  for (const { path, after } of await repository.diff(baseTree, merged.tree)) {
    const entry = await look.entry(result, path)
    if (entry?.oid !== after?.oid || entry?.mode !== after?.mode) return false
  }
  return true
}
