// A bare mirror of one repository on disk, run by the `git` program. One process uses a folder at a time. It is a
// cache: deleting it only costs a fetch.
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { toBlobSha, toCommitSha, toTreeSha, type CommitSha, type PullNumber } from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { GitRepository } from '../../ports/repository.ts'
import { readCommit, readCommitMessage, listFirstParentChain, isOnFirstParentChain, findMergeBases } from './commits.ts'
import { readIncomingCommits } from './incoming-commits.ts'
import { fetchRefs, fetchTestMergeCommit, type GitFetchOptions, createFetchScheduler } from './fetch.ts'
import { GitError, isGitError } from './git-error.ts'
import { runGit, createLocalGit, type LocalGit, readGitVersion } from './run-git.ts'
import { pushMerge, pushMergeBatch, createStagingBranch, deleteStagingBranch } from './push-merge.ts'
import { createTreeListingCache } from './listings.ts'
import { requireValidIdentity, mergeCommits, type CommitIdentity } from './merge.ts'
import { openCatFileObjectReader, type CatFileObjectReader, type GitObjectReader } from './object-reader.ts'
import { createGitRemote, type GitCredential, toMirrorBranchRef, toMirrorPullRef, toMirrorTestMergeRef } from './remote.ts'
import { pathExists, removeStaleLocksAndTempFiles, consolidateMirrorPacks } from './tidy.ts'

export interface GitMirrorOptions {
  /** Created if missing. */
  readonly directory: string
  /** `https://host/path`; `http://` to this machine and `file:///path` for sandbox and tests. No user or password. */
  readonly url: string
  /** Called before every command to the server, because tokens expire. Undefined: anonymous. */
  readonly credential: () => Promise<GitCredential | undefined>
  /** If set, pushMerge() rejects permits for other repositories. */
  readonly repository?: RepositoryName
  /** Author and committer of merge commits. */
  readonly signature?: CommitIdentity
  readonly timeouts?: Partial<GitTimeouts>
  /** Most paths of one tree or difference. More fail with GitError `too-large`. */
  readonly maxPaths?: number | undefined
  /**
   * Another process maintains this folder. It is only read here (merges add objects), never created, fetched into or
   * pushed from. Git ends with our process group.
   */
  readonly isReadOnly?: boolean | undefined
}

/** Milliseconds. */
export interface GitTimeouts {
  /** A large repository's first fetch takes minutes. */
  readonly fetch: number
  readonly push: number
  /** A local command, and the object reader's longest silence. */
  readonly local: number
}

export interface GitMirror extends GitRepository {
  readonly version: string
  /** The object reader's process, for tests that end it. */
  readonly readerPid: number | undefined
  /** Reports damaged or lost objects, so that the next fetch starts from scratch. */
  markCorrupt(code: 'corrupt' | 'missing'): void
  /** Stops all commands (they reject with GitError `aborted`) and starts no others. */
  close(): Promise<void>
}

const defaultGitTimeouts: GitTimeouts = { fetch: 15 * 60_000, push: 5 * 60_000, local: 2 * 60_000 }

/** A reserved domain without accounts. The app sets its bot's name and address. */
const defaultCommitIdentity: CommitIdentity = { name: 'catalog-bot', email: 'catalog-bot@noreply.invalid' }

/** The largest catalogs are files of some 60 MB; GitHub takes none above 100 MB. */
const maxBlobBytes = 128 * 1024 * 1024

/** Milliseconds between recreations of a mirror because of missing objects. */
const minMirrorRecreateIntervalMs = 60 * 60_000

/** Some four times the largest public catalog repository. */
export const defaultMaxTreePaths = 300_000

/**
 * Opens or creates the mirror in `directory` without fetching. Rejects with GitError `unsupported` (no git, or older
 * than 2.38) or `refused` (the address, the signature).
 */
export async function openGitMirror(options: GitMirrorOptions): Promise<GitMirror> {
  const remote = createGitRemote(options.url, options.credential)
  const signature = requireValidIdentity(options.signature ?? defaultCommitIdentity)
  const timeouts = { ...defaultGitTimeouts, ...options.timeouts }
  const directory = resolve(options.directory)
  const { isReadOnly: staysInGroup = false, maxPaths = defaultMaxTreePaths, repository } = options
  const version = await readGitVersion()
  if (!staysInGroup) await prepareMirrorDirectory(directory)

  const closing = new AbortController()
  const { signal } = closing
  const git = createLocalGit({ directory, timeout: timeouts.local, signal, staysInGroup })
  const reader = openCatFileObjectReader({ directory, timeout: timeouts.local, staysInGroup })
  const folder = new MirrorFolder(git, reader, { directory, remote, timeout: timeouts.fetch, signal })
  const { local, objects } = folder
  const { diff, list, entry, isWellWritten } = createTreeListingCache(local, objects, maxPaths)
  const merging = { git: local, objects, diff, isWellWritten, directory, signature }
  const pushing = { directory, remote, timeout: timeouts.push, signal, objects, repository }
  const requireWritable = () => {
    if (staysInGroup) throw createReadOnlyMirrorError()
  }

  return {
    version,
    get readerPid() {
      return reader.pid
    },
    markCorrupt: (code) => folder.markCorrupt(code),
    fetch: async (branch, pull) => {
      requireWritable()
      await folder.fetch(branch, pull)
    },
    fetchTestMerge: async (pull) => {
      requireWritable()
      return folder.fetchTestMerge(pull)
    },
    tip: async (branch) => readRef(objects, toMirrorBranchRef(branch)),
    pullHead: async (pull) => readRef(objects, toMirrorPullRef(pull)),
    merge: async (base, head, message) =>
      folder.detectMissing(mergeCommits(merging, toCommitSha(base), toCommitSha(head), message)),
    ...createHistoryReader(local, objects),
    diff: async (before, after) => folder.detectMissing(diff(toTreeSha(before), toTreeSha(after))),
    list: async (tree, prefix = '') => folder.detectMissing(list(toTreeSha(tree), prefix)),
    entry: async (tree, path) => folder.detectMissing(entry(toTreeSha(tree), path)),
    read: async (blob, limit = maxBlobBytes) => {
      const { type, bytes } = await folder.detectMissing(objects.read(toBlobSha(blob), limit))
      if (type !== 'blob') throw new GitError('missing', `object ${blob} is a ${type}, not a blob`)
      return bytes
    },
    ...createMirrorPusher(pushing, requireWritable),
    close: async () => {
      closing.abort()
      reader.close()
      await folder.idle()
    },
  }
}

/** Reads about commits, which need neither the server nor the listings. */
function createHistoryReader(local: LocalGit, objects: GitObjectReader) {
  return {
    treeOf: async (commit) => (await readCommit(objects, toCommitSha(commit))).tree,
    parentsOf: async (commit) => (await readCommit(objects, toCommitSha(commit))).parents,
    messageOf: async (commit) => readCommitMessage(objects, toCommitSha(commit)),
    contains: async (commit, ancestor) => {
      const args = ['merge-base', '--is-ancestor', toCommitSha(ancestor), toCommitSha(commit)]
      return (await local(args, { answers: [0, 1] })).code === 0
    },
    mergeBases: async (one, other) => findMergeBases(local, toCommitSha(one), toCommitSha(other)),
    firstParents: async (tip, since) => listFirstParentChain(local, toCommitSha(tip), toCommitSha(since)),
    wasTip: async (tip, commit) => isOnFirstParentChain(local, toCommitSha(tip), toCommitSha(commit)),
    readIncomingCommits: async (base, head) =>
      readIncomingCommits({ git: local, objects }, toCommitSha(base), toCommitSha(head)),
  } satisfies Partial<GitMirror>
}

function createMirrorPusher(pushing: Parameters<typeof pushMerge>[0], requireWritable: () => void) {
  return {
    pushMerge: async (permit, as) => {
      requireWritable()
      return pushMerge(pushing, permit, as)
    },
    pushMergeBatch: async (permits) => {
      requireWritable()
      return pushMergeBatch(pushing, permits)
    },
    createStagingBranch: async (permit) => {
      requireWritable()
      return createStagingBranch(pushing, permit)
    },
    deleteStagingBranch: async (branch, commit) => {
      requireWritable()
      return deleteStagingBranch(pushing, branch, commit)
    },
  } satisfies Partial<GitMirror>
}

type MirrorConnection = Omit<GitFetchOptions, 'local' | 'objects'>

/** The mirror's folder: notices damage, and fetches into it or starts it from scratch. */
class MirrorFolder {
  readonly #git: LocalGit
  readonly #reader: CatFileObjectReader
  readonly #connection: MirrorConnection
  // Set when the folder is damaged (a power cut, a bad disk, manual cleanup): the next fetch starts from scratch.
  #isDamaged = false
  #recreatedAt = -Infinity
  readonly #lanes = createFetchScheduler()
  #isTidying = false
  /** Branches with any state here. Asking git once is enough. */
  readonly #knownBranches = new Set<string>()

  constructor(git: LocalGit, reader: CatFileObjectReader, connection: MirrorConnection) {
    this.#git = git
    this.#reader = reader
    this.#connection = connection
  }

  readonly local: LocalGit = (args, more) => this.#detectCorruption(this.#git(args, more))

  readonly objects: GitObjectReader = {
    read: (id, limit) => this.#detectCorruption(this.#reader.read(id, limit)),
    tipOf: (ref) => this.#detectCorruption(this.#reader.tipOf(ref)),
  }

  markCorrupt(code: 'corrupt' | 'missing') {
    // Anyone can name an unknown id, so limit how often a missing object recreates the mirror.
    if (code === 'corrupt' || performance.now() - this.#recreatedAt > minMirrorRecreateIntervalMs)
      this.#isDamaged = true
  }

  async #detectCorruption<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (isGitError(error, 'corrupt')) this.markCorrupt('corrupt')
      throw error
    }
  }

  /** For objects that must be here, such as a tree's entry or a commit's tree. */
  async detectMissing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (isGitError(error, 'missing')) this.markCorrupt('missing')
      throw error
    }
  }

  async fetch(branch: string, pull?: PullNumber): Promise<void> {
    const { signal, directory } = this.#connection
    try {
      await this.#fetchOnce(branch, pull)
    } catch (error) {
      // Git words a broken folder like a misbehaving server, so check the folder.
      if (signal.aborted || !mayErrorBeFromLocalMirror(error) || (await isMirrorIntact(this.#git, directory)))
        throw error
      this.#isDamaged = true
      await this.#fetchOnce(branch, pull)
    }
  }

  async fetchTestMerge(pull: PullNumber): Promise<CommitSha | undefined> {
    await this.#lanes.run((stopping) => fetchTestMergeCommit(this.#toGitFetchOptions(stopping), pull))
    return readRef(this.objects, toMirrorTestMergeRef(pull))
  }

  idle(): Promise<void> {
    return this.#lanes.idle()
  }

  async #fetchOnce(branch: string, pull?: PullNumber): Promise<void> {
    if (this.#isDamaged || !(this.#knownBranches.has(branch) || (await this.#hasBranch(branch))))
      if ((await this.#initializeBranch(branch)) && pull === undefined) return
    await this.#lanes.run((stopping) => this.#fetchBranch(stopping, branch, pull))
  }

  async #hasBranch(branch: string): Promise<boolean> {
    try {
      if ((await readRef(this.objects, toMirrorBranchRef(branch))) === undefined) return false
      this.#knownBranches.add(branch)
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
  async #initializeBranch(branch: string): Promise<boolean> {
    const { directory } = this.#connection
    if (this.#isDamaged) this.#lanes.stop(new GitError('aborted', 'git fetch: the mirror is being recreated'))
    return this.#lanes.runExclusively(async (stopping) => {
      if (this.#isDamaged) {
        await discardMirrorDirectory(directory)
        this.#reader.restart()
        await prepareMirrorDirectory(directory)
        this.#isDamaged = false
        this.#recreatedAt = performance.now()
        this.#knownBranches.clear()
      }
      if ((await readRef(this.objects, toMirrorBranchRef(branch))) !== undefined) return false
      await this.#fetchBranch(stopping, branch)
      return true
    })
  }

  async #fetchBranch(stopping: AbortSignal, branch: string, pull?: PullNumber): Promise<void> {
    await fetchRefs(this.#toGitFetchOptions(stopping), branch, pull)
    if (this.#isTidying) return
    this.#isTidying = true
    try {
      await consolidateMirrorPacks(this.local, this.#connection.directory)
    } finally {
      this.#isTidying = false
    }
  }

  #toGitFetchOptions(stopping: AbortSignal): GitFetchOptions {
    const signal = AbortSignal.any([this.#connection.signal, stopping])
    return { ...this.#connection, signal, local: this.local, objects: this.objects }
  }
}

const createReadOnlyMirrorError = () => new GitError('refused', 'a read-only mirror cannot fetch or push')

/** The folder appears whole or not at all, even if the process dies. */
async function prepareMirrorDirectory(directory: string): Promise<void> {
  if (await pathExists(join(directory, 'HEAD'))) return removeStaleLocksAndTempFiles(directory)
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
      if (await pathExists(join(directory, 'HEAD'))) throw error
      await discardMirrorDirectory(directory)
      await rename(temporary, directory)
    })
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    if (!(await pathExists(join(directory, 'HEAD')))) throw error
  }
}

/** Whether a fetch may have failed because of this folder, not clearly because of the server. */
function mayErrorBeFromLocalMirror(error: unknown): boolean {
  if (!isGitError(error)) return true
  return ['failed', 'missing', 'corrupt', 'unsupported'].includes(error.code)
}

/** Whether the folder is a repository whose refs lead to existing objects. If git can't start, it counts as sound. */
async function isMirrorIntact(git: LocalGit, directory: string): Promise<boolean> {
  for (const part of ['HEAD', 'objects', 'refs']) if (!(await pathExists(join(directory, part)))) return false
  try {
    return (await git(['for-each-ref', '--format=%(objecttype)'])).stderr.trim() === ''
  } catch (error) {
    return !isGitError(error) || !mayErrorBeFromLocalMirror(error) || error.cause !== undefined
  }
}

/** Renames first, then deletes. */
async function discardMirrorDirectory(directory: string): Promise<void> {
  if (!(await pathExists(directory))) return
  const aside = await mkdtemp(join(dirname(directory), `.${basename(directory)}-damaged-`))
  await rename(directory, join(aside, 'mirror'))
  await rm(aside, { recursive: true, force: true })
}

async function readRef(objects: GitObjectReader, ref: string): Promise<CommitSha | undefined> {
  const id = await objects.tipOf(ref)
  return id === undefined ? undefined : toCommitSha(id)
}

/** Keeps the last folder's mirror open. A guest never contacts the server. */
export function createReadOnlyMirrorOpener(): (
  directory: string,
  options?: Pick<GitMirrorOptions, 'maxPaths'>,
) => Promise<GitMirror> {
  let known: { readonly folder: string; readonly repository: GitMirror } | undefined
  return async (directory, options = {}) => {
    // A recreated mirror keeps its path, but readers of the old one wouldn't see new objects.
    const folder = `${directory} ${(await stat(directory, { bigint: true })).ino}`
    if (known?.folder === folder) return known.repository
    await known?.repository.close()
    const repository = await openGitMirror({
      directory,
      url: 'https://mirror.invalid',
      credential: () => Promise.resolve(undefined),
      isReadOnly: true,
      ...options,
    })
    known = { folder, repository }
    return repository
  }
}
