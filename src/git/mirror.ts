// A bare mirror of one repository on disk, run by the `git` program. One process uses a folder at a time. It is a
// cache: deleting it only costs a fetch.
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { blobSha, commitSha, treeSha, type CommitSha, type PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { Repository } from '../ports/repository.ts'
import { firstParents, isOnFirstParents, mergeBases } from './ancestry.ts'
import { readCarried } from './carried-commits.ts'
import { readCommit, readMessage } from './commits.ts'
import { openFetchLanes } from './fetch-lanes.ts'
import { fetchRefs, fetchTestMerge } from './fetch.ts'
import { GitError, isGitError } from './git-error.ts'
import { gitVersion } from './git-version.ts'
import { land, landTogether, stage, unstage } from './land.ts'
import { openListings } from './listings.ts'
import { localGit, type LocalGit } from './local-git.ts'
import { checkSignature, mergeCommits, type Signature } from './merge.ts'
import { openObjectReader, type Objects } from './object-reader.ts'
import { keptBranchRef, keptPullRef, keptTestMergeRef } from './ref-names.ts'
import { openRemote, type Credential } from './remote.ts'
import { runGit } from './run-git.ts'
import { exists, removeLeftovers, tidy } from './tidy.ts'

export interface MirrorOptions {
  /** Created if missing. */
  readonly directory: string
  /** `https://host/path`; `http://` to this machine and `file:///path` for sandbox and tests. No user or password. */
  readonly url: string
  /** Called before every command to the server, because tokens expire. Undefined: anonymous. */
  readonly credential: () => Promise<Credential | undefined>
  /** If set, land() refuses permits for other repositories. */
  readonly repository?: RepositoryName
  /** Author and committer of merge commits. */
  readonly signature?: Signature
  readonly timeouts?: Partial<Timeouts>
  /** Most paths of one tree or difference. More fail with GitError `too-large`. */
  readonly mostPaths?: number | undefined
  /**
   * Another process maintains this folder. It is only read here (merges add objects), never created, fetched into or
   * pushed from. Git ends with our process group.
   */
  readonly isGuest?: boolean | undefined
}

/** Milliseconds. */
export interface Timeouts {
  /** A large repository's first fetch takes minutes. */
  readonly fetch: number
  readonly push: number
  /** A local command, and the object reader's longest silence. */
  readonly local: number
}

export interface Mirror extends Repository {
  readonly version: string
  /** The object reader's process, for tests that end it. */
  readonly readerPid: number | undefined
  /** Reports damaged or lost objects, so that the next fetch starts from scratch. */
  distrust(code: 'corrupt' | 'missing'): void
  /** Stops all commands (they reject with GitError `aborted`) and starts no others. */
  close(): Promise<void>
}

const defaultTimeouts: Timeouts = { fetch: 15 * 60_000, push: 5 * 60_000, local: 2 * 60_000 }

/** A reserved domain without accounts. The app sets its bot's name and address. */
const defaultSignature: Signature = { name: 'catalog-bot', email: 'catalog-bot@noreply.invalid' }

/** The largest catalogs are files of some 60 MB; GitHub takes none above 100 MB. */
const blobLimit = 128 * 1024 * 1024

/** Milliseconds between recreations of a mirror because of missing objects. */
const oftenMadeAnew = 60 * 60_000

/** Some four times the largest public catalog repository. */
export const usualMostPaths = 300_000

/**
 * Opens or creates the mirror in `directory` without fetching. Rejects with GitError `unsupported` (no git, or older
 * than 2.38) or `refused` (the address, the signature).
 */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const remote = openRemote(options.url, options.credential)
  const signature = checkSignature(options.signature ?? defaultSignature)
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const directory = resolve(options.directory)
  const { isGuest: staysInGroup = false, mostPaths = usualMostPaths } = options
  const version = await gitVersion()
  if (!staysInGroup) await prepare(directory)

  const closing = new AbortController()
  const { signal } = closing
  // Set when the folder is damaged (a power cut, a bad disk, manual cleanup): the next fetch starts from scratch.
  let isDamaged = false
  let madeAnew = -Infinity
  /** An object that must be here is missing, such as a tree's entry or a commit's tree. */
  const lost = () => {
    // Anyone can name an unknown id, so limit how often that recreates the mirror.
    if (performance.now() - madeAnew > oftenMadeAnew) isDamaged = true
  }
  const noticing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (isGitError(error, 'corrupt')) isDamaged = true
      throw error
    }
  }
  const mustBeHere = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (isGitError(error, 'missing')) lost()
      throw error
    }
  }
  const git = localGit({ directory, timeout: timeouts.local, signal, staysInGroup })
  const local: LocalGit = (args, more) => noticing(git(args, more))
  const reader = openObjectReader({ directory, timeout: timeouts.local, staysInGroup })
  const objects: Objects = {
    read: (id, limit) => noticing(reader.read(id, limit)),
    tipOf: (ref) => noticing(reader.tipOf(ref)),
  }
  const { diff, list, entry, isWellWritten } = openListings(local, objects, mostPaths)
  const { repository } = options
  const lanes = openFetchLanes()
  const pushing = { directory, remote, timeout: timeouts.push, signal, objects, repository }
  let isTidying = false
  /** Branches with any state here. Asking git once is enough. */
  const begun = new Set<string>()

  const isHere = async (branch: string): Promise<boolean> => {
    try {
      if ((await readRef(objects, keptBranchRef(branch))) === undefined) return false
      begun.add(branch)
      return true
    } catch (error) {
      if (isGitError(error, 'corrupt')) return false
      throw error
    }
  }

  /**
   * Starts from scratch, without concurrent fetches, which would all bring the whole branch. False: another one did it
   * first.
   */
  const begin = async (branch: string): Promise<boolean> => {
    if (isDamaged) lanes.stop(new GitError('aborted', 'git fetch: the mirror is made anew'))
    return lanes.alone(async (stopping) => {
      if (isDamaged) {
        await discard(directory)
        reader.restart()
        await prepare(directory)
        isDamaged = false
        madeAnew = performance.now()
        begun.clear()
      }
      if ((await readRef(objects, keptBranchRef(branch))) !== undefined) return false
      await bring(stopping, branch)
      return true
    })
  }
  const fetching = (stopping: AbortSignal) => ({
    directory,
    remote,
    timeout: timeouts.fetch,
    signal: AbortSignal.any([signal, stopping]),
    local,
    objects,
  })
  const bring = async (stopping: AbortSignal, branch: string, pull?: PullNumber): Promise<void> => {
    await fetchRefs(fetching(stopping), branch, pull)
    if (isTidying) return
    isTidying = true
    try {
      await tidy(local, directory)
    } finally {
      isTidying = false
    }
  }

  const fetchOnce = async (branch: string, pull?: PullNumber): Promise<void> => {
    if (isDamaged || !(begun.has(branch) || (await isHere(branch))))
      if ((await begin(branch)) && pull === undefined) return
    await lanes.run((stopping) => bring(stopping, branch, pull))
  }

  return {
    version,
    get readerPid() {
      return reader.pid
    },
    distrust: (code) => {
      if (code === 'corrupt') isDamaged = true
      else lost()
    },
    fetch: async (branch, pull) => {
      if (staysInGroup) throw guestError()
      try {
        await fetchOnce(branch, pull)
      } catch (error) {
        // Git words a broken folder like a misbehaving server, so check the folder.
        if (signal.aborted || !mayBeOurs(error) || (await isSound(git, directory))) throw error
        isDamaged = true
        await fetchOnce(branch, pull)
      }
    },
    fetchTestMerge: async (pull) => {
      if (staysInGroup) throw guestError()
      await lanes.run((stopping) => fetchTestMerge(fetching(stopping), pull))
      return readRef(objects, keptTestMergeRef(pull))
    },
    tip: async (branch) => readRef(objects, keptBranchRef(branch)),
    pullHead: async (pull) => readRef(objects, keptPullRef(pull)),
    merge: async (base, head, message) =>
      mustBeHere(
        mergeCommits(
          { git: local, objects, diff, isWellWritten, directory, signature },
          commitSha(base),
          commitSha(head),
          message,
        ),
      ),
    treeOf: async (commit) => (await readCommit(objects, commitSha(commit))).tree,
    parentsOf: async (commit) => (await readCommit(objects, commitSha(commit))).parents,
    messageOf: async (commit) => readMessage(objects, commitSha(commit)),
    contains: async (commit, ancestor) => {
      const args = ['merge-base', '--is-ancestor', commitSha(ancestor), commitSha(commit)]
      return (await local(args, { answers: [0, 1] })).code === 0
    },
    mergeBases: async (one, other) => mergeBases(local, commitSha(one), commitSha(other)),
    firstParents: async (tip, since) => firstParents(local, commitSha(tip), commitSha(since)),
    wasTip: async (tip, commit) => isOnFirstParents(local, commitSha(tip), commitSha(commit)),
    carried: async (base, head) => readCarried({ git: local, objects }, commitSha(base), commitSha(head)),
    diff: async (before, after) => mustBeHere(diff(treeSha(before), treeSha(after))),
    list: async (tree, prefix = '') => mustBeHere(list(treeSha(tree), prefix)),
    entry: async (tree, path) => mustBeHere(entry(treeSha(tree), path)),
    read: async (blob, limit = blobLimit) => {
      const { type, bytes } = await mustBeHere(objects.read(blobSha(blob), limit))
      if (type !== 'blob') throw new GitError('missing', `object ${blob} is a ${type}, not a blob`)
      return bytes
    },
    land: async (permit, as) => {
      if (staysInGroup) throw guestError()
      return land(pushing, permit, as)
    },
    landTogether: async (permits) => {
      if (staysInGroup) throw guestError()
      return landTogether(pushing, permits)
    },
    stage: async (permit) => {
      if (staysInGroup) throw guestError()
      return stage(pushing, permit)
    },
    unstage: async (branch, commit) => {
      if (staysInGroup) throw guestError()
      return unstage(pushing, branch, commit)
    },
    close: async () => {
      closing.abort()
      reader.close()
      await lanes.idle()
    },
  }
}

const guestError = () => new GitError('refused', 'a guest neither fetches nor pushes')

/** The folder appears whole or not at all, even if the process dies. */
async function prepare(directory: string): Promise<void> {
  if (await exists(join(directory, 'HEAD'))) return removeLeftovers(directory)
  const parent = dirname(directory)
  await mkdir(parent, { recursive: true })
  const temporary = await mkdtemp(join(parent, `.${basename(directory)}-`))
  try {
    await runGit({
      // Without a template: no hooks, info/exclude or info/attributes. HEAD names a branch that never exists.
      args: ['init', '--quiet', '--bare', '--template=', '--initial-branch=none', temporary],
      timeout: 30_000,
      limit: 10_000,
    })
    await rename(temporary, directory).catch(async (error: unknown) => {
      // Another process was faster, or half a folder is in the way.
      if (await exists(join(directory, 'HEAD'))) throw error
      await discard(directory)
      await rename(temporary, directory)
    })
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    if (!(await exists(join(directory, 'HEAD')))) throw error
  }
}

/** Whether a fetch may have failed because of this folder, not clearly because of the server. */
function mayBeOurs(error: unknown): boolean {
  if (!isGitError(error)) return true
  return ['failed', 'missing', 'corrupt', 'unsupported'].includes(error.code)
}

/** Whether the folder is a repository whose refs lead to existing objects. If git can't start, it counts as sound. */
async function isSound(git: LocalGit, directory: string): Promise<boolean> {
  for (const part of ['HEAD', 'objects', 'refs']) if (!(await exists(join(directory, part)))) return false
  try {
    return (await git(['for-each-ref', '--format=%(objecttype)'])).stderr.trim() === ''
  } catch (error) {
    return !isGitError(error) || !mayBeOurs(error) || error.cause !== undefined
  }
}

/** Renames first, then deletes. */
async function discard(directory: string): Promise<void> {
  if (!(await exists(directory))) return
  const aside = await mkdtemp(join(dirname(directory), `.${basename(directory)}-damaged-`))
  await rename(directory, join(aside, 'mirror'))
  await rm(aside, { recursive: true, force: true })
}

async function readRef(objects: Objects, ref: string): Promise<CommitSha | undefined> {
  const id = await objects.tipOf(ref)
  return id === undefined ? undefined : commitSha(id)
}
