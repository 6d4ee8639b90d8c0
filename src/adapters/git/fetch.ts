// Fetches one branch and one pull request's head to refs of ours: no tags, other branches or submodules. Deletes refs
// that the server deleted.
import type { PullNumber } from '../../pull-request/ids.ts'
import { fetchAdvertisedRefs } from './advertised-refs.ts'
import { GitError, isGitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { GitObjects } from './object-reader.ts'
import {
  toBranchRef,
  toMirrorBranchRef,
  toMirrorPullRef,
  toMirrorTestMergeRef,
  toPullRef,
  toTestMergeRef,
} from './ref-names.ts'
import type { GitRemote } from './remote.ts'
import { runGit } from './run-git.ts'

export interface FetchOptions {
  readonly directory: string
  readonly remote: GitRemote
  readonly timeout: number
  readonly signal: AbortSignal
  readonly local: LocalGit
  readonly objects: GitObjects
}

export async function fetchRefs(options: FetchOptions, branch: string, pull?: PullNumber): Promise<void> {
  const wanted = [{ theirs: toBranchRef(branch), ours: toMirrorBranchRef(branch) }]
  if (pull !== undefined) wanted.push({ theirs: toPullRef(pull), ours: toMirrorPullRef(pull) })
  await fetchRefMappings(options, wanted)
}

/** Fetches GitHub's test merge of a pull request. */
export async function fetchTestMerge(options: FetchOptions, pull: PullNumber): Promise<void> {
  await fetchRefMappings(options, [{ theirs: toTestMergeRef(pull), ours: toMirrorTestMergeRef(pull) }])
}

interface RefMapping {
  readonly theirs: string
  readonly ours: string
}

async function fetchRefMappings(options: FetchOptions, refs: readonly RefMapping[]): Promise<void> {
  if (await areRefsUpToDate(options, refs)) return
  let wanted = [...refs]
  while (wanted.length > 0) {
    const absent = await tryFetch(options, wanted)
    if (absent === undefined) return
    const absentRefs = wanted.filter(({ theirs }) => theirs === absent)
    // Git may only name a requested ref; another one would loop forever.
    if (absentRefs.length === 0)
      throw new GitError('failed', 'git fetch reported a missing ref that was not requested')
    await deleteRefs(
      options.local,
      absentRefs.map(({ ours }) => ours),
    )
    wanted = wanted.filter((ref) => !absentRefs.includes(ref))
  }
}

/** Whether the server's refs equal ours, so there is nothing to fetch. */
async function areRefsUpToDate(
  { remote, signal, objects }: FetchOptions,
  refs: readonly RefMapping[],
): Promise<boolean> {
  const here = await Promise.all(refs.map(({ ours }) => objects.tipOf(ours)))
  if (here.includes(undefined)) return false
  const there = await fetchAdvertisedRefs(
    remote,
    refs.map(({ theirs }) => theirs),
    signal,
  )
  return there !== undefined && refs.every(({ theirs }, at) => there.get(theirs) === here[at])
}

/** Fetches all or nothing. Returns the ref that the server lacks; undefined: success. */
async function tryFetch(
  { directory, remote, timeout, signal }: FetchOptions,
  refs: readonly RefMapping[],
): Promise<string | undefined> {
  const args = [
    'fetch',
    '--quiet',
    '--atomic',
    '--no-tags',
    '--no-prune',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--no-show-forced-updates',
    '--end-of-options',
    remote.url,
    ...refs.map(({ theirs, ours }) => `+${theirs}:${ours}`),
  ]
  // Every failure of git fetch exits with 128, so the message decides.
  const call = { args, directory, remote, timeout, signal, limit: 1024 * 1024 }
  for (let tries = 1; ; tries += 1)
    try {
      await runGit(call)
      return undefined
    } catch (error) {
      if (isGitError(error, 'failed') && tries < maxAttempts && lockConflictPattern.test(error.message))
        continue
      const absent = isGitError(error, 'missing')
        ? /fatal: couldn't find remote ref (\S+)/.exec(error.message)?.[1]
        : undefined
      if (absent === undefined) throw error
      return absent
    }
}

/** Another fetch moved the same branch. The objects are here, so a retry only moves the refs. */
const lockConflictPattern = /cannot lock ref|reference already exists|unable to create '[^']*\.lock'/i
const maxAttempts = 5

async function deleteRefs(git: LocalGit, refs: readonly string[]): Promise<void> {
  await git(['update-ref', '--stdin', '-z'], { input: refs.map((ref) => `delete ${ref}\0\0`).join('') })
}
