// The other open pull requests that a landing would close, and what becomes of their content. GitHub marks a pull
// request as merged as soon as its head can be reached from its base branch, whatever the tree says by then.
import type { CarriedCommits, ClosedPull } from '../change/carried-commits.ts'
import type { TreeSha } from '../change/ids.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { heldBy } from '../gate/commands.ts'
import type { OpenPull } from '../ports/forge.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { ReadTree, Repository } from '../ports/repository.ts'

/** Each of them is merged to see what it changes. A head that brings more other pull requests keeps none, for us. */
const mostMerged = 20

/** An open pull request that a landing would close, before anybody has looked at what it changes. */
export interface MetPull {
  readonly open: OpenPull
  readonly by: ClosedPull['by']
}

/**
 * Whether a landing can meet another pull request at all. A single commit is the head itself: a pull request with the
 * same head is closed with the same content. Saves the request for the list of them in most looks.
 */
export function mayMeetPulls({ commits }: CarriedCommits): boolean {
  return commits.length > 1 || commits.some(({ closes }) => closes === undefined || closes.length > 0)
}

/** The open pull requests that landing `snapshot` with these commits would close, in the order of their numbers. */
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
      // A pull request for another branch stays open: its head does not get there.
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
  /** The tree that would land. */
  readonly result: TreeSha
}

/** What becomes of them. Rejects with a GitError or StoreError. */
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

/** Why its own landing would have to wait for people, if it would. */
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

/** Whether everything that the other one would change on the base stands in the result as it would have it. */
async function isKept(
  { head }: OpenPull,
  { base }: Snapshot,
  { repository, look, baseTree, result }: ClosedPullPlaces,
): Promise<boolean> {
  // Its commits are here: they are among those of the head that was fetched.
  const merged = await repository.merge(base, head, `Merge ${head}\n`)
  if (merged.kind !== 'clean') return false
  for (const { path, after } of await repository.diff(baseTree, merged.tree)) {
    const entry = await look.entry(result, path)
    if (entry?.oid !== after?.oid || entry?.mode !== after?.mode) return false
  }
  return true
}
