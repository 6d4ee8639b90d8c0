// Finds the commit on the base branch that brought a channel's second head after the pull request was made. Reads only
// the files of such findings and few commits.
import { readFile } from '../catalog/load/read-file.ts'
import type { ChannelEntry } from '../catalog/facts/catalog.ts'
import type { BlobSha, CommitSha } from '../change/ids.ts'
import type { Finding } from '../findings/finding.ts'
import { isGitError } from '../git/git-error.ts'
import type { MovedHead } from '../messages/describe-meanwhile.ts'
import type { Repository } from '../ports/repository.ts'

type Reads = Pick<Repository, 'treeOf' | 'entry' | 'read' | 'mergeBases' | 'firstParents'>

/** No commit is named when the branch moved further. */
const mostCommits = 60
const mostFindings = 3
const largestFile = 4 * 1024 * 1024

/** Rejects with a GitError. */
export async function whatMoved(
  findings: readonly Finding[],
  { head, base }: { readonly head: CommitSha; readonly base: CommitSha },
  repository: Reads,
): Promise<readonly MovedHead[]> {
  const forked = findings.filter(({ rule, at }) => rule === 'several-heads' && at !== undefined)
  if (forked.length === 0) return []
  const [met, ...others] = await repository.mergeBases(base, head)
  if (met === undefined || others.length > 0 || met === base) return []
  const entriesAt = entriesReader(repository)
  const moved: MovedHead[] = []
  for (const { at, data } of forked.slice(0, mostFindings)) {
    const file = at?.file ?? ''
    const channel = `${String(data?.['package'])} ${String(data?.['channel'])}`
    const heads = Array.isArray(data?.['heads']) ? data['heads'].map(String) : []
    const [then, there, here] = await Promise.all(
      [met, base, head].map(async (commit) => (await entriesAt(commit, file)).get(channel) ?? []),
    )
    const fresh = (entries: readonly ChannelEntry[] | undefined) =>
      heads.filter((name) => has(entries, name) && !has(then, name))
    const [theirs] = fresh(there).filter((name) => !has(here, name))
    const [mine] = fresh(here).filter((name) => !has(there, name))
    if (theirs === undefined || mine === undefined) continue
    const commit = await broughtBy(theirs, channel, file, { met, base }, entriesAt, repository)
    if (commit === undefined) continue
    const replaces = there?.find(({ name }) => name === theirs)?.replaces ?? ''
    const isSame = replaces !== '' && here?.find(({ name }) => name === mine)?.replaces === replaces
    moved.push({ commit, entry: theirs, replaces, mine, isSame })
  }
  return moved
}

function has(entries: readonly ChannelEntry[] | undefined, name: string): boolean {
  return entries?.some((entry) => entry.name === name) === true
}

async function broughtBy(
  name: string,
  channel: string,
  file: string,
  { met, base }: { readonly met: CommitSha; readonly base: CommitSha },
  entriesAt: EntriesAt,
  repository: Reads,
): Promise<CommitSha | undefined> {
  const since = await repository.firstParents(base, met)
  if (since.length > mostCommits) return undefined
  for (const commit of since.toReversed())
    if (has((await entriesAt(commit, file)).get(channel), name)) return commit
  return undefined
}

type EntriesAt = (commit: CommitSha, file: string) => Promise<ReadonlyMap<string, readonly ChannelEntry[]>>

function entriesReader(repository: Reads): EntriesAt {
  const read = new Map<BlobSha, ReadonlyMap<string, readonly ChannelEntry[]>>()
  return async (commit, file) => {
    const entry = await repository.entry(await repository.treeOf(commit), file)
    if (entry?.mode.startsWith('100') !== true) return new Map()
    const known = read.get(entry.oid)
    if (known) return known
    const channels = new Map<string, readonly ChannelEntry[]>()
    const bytes = await readSmall(repository, entry.oid)
    if (bytes)
      for (const one of readFile(bytes).channels) channels.set(`${one.package} ${one.name}`, one.entries)
    read.set(entry.oid, channels)
    return channels
  }
}

async function readSmall(repository: Reads, oid: BlobSha): Promise<Uint8Array | undefined> {
  try {
    return await repository.read(oid, largestFile)
  } catch (error) {
    if (isGitError(error, 'too-large')) return undefined
    throw error
  }
}
