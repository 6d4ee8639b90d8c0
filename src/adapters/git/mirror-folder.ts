// Manages the folder of a mirror: detects damage, fetches into the folder or recreates it, and combines packs.
// Unreferenced objects remain for two weeks, because merge commits wait to be pushed.
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { toCommitSha, type CommitSha, type PullNumber } from '../../pull-request/ids.ts'
import { fetchRefs, fetchTestMergeCommit, type GitFetchOptions, FetchScheduler } from './fetch.ts'
import { GitError, isGitError } from './git-error.ts'
import { runGit, type GitRunner } from './run-git.ts'
import { type CatFileObjectReader, type GitObjectReader } from './object-reader.ts'
import { toMirrorBranchRef, toMirrorTestMergeRef } from './remote.ts'

/** Each fetch leaves a pack; git slows down with hundreds of them. */
const maxMirrorPackFiles = 50
/** Each merge leaves some loose objects; git itself would tidy at 6700. */
const maxMirrorLooseObjects = 5000
/** Milliseconds between recreations of a mirror because of missing objects. */
const minMirrorRecreateIntervalMs = 60 * 60_000

type MirrorFetchOptions = Omit<GitFetchOptions, 'local' | 'objects'>

/** The mirror's folder: notices damage, and fetches into it or starts it from scratch. */
export class MirrorFolder {
  readonly #git: GitRunner
  readonly #reader: CatFileObjectReader
  readonly #connection: MirrorFetchOptions
  // Set when the folder is damaged (a power cut, a bad disk, manual cleanup): the next fetch starts from scratch.
  #isDamaged = false
  #recreatedAt = -Infinity
  readonly #lanes = new FetchScheduler()
  #isTidying = false
  /** Branches with any state here. Asking git once is enough. */
  readonly #knownBranches = new Set<string>()

  constructor(git: GitRunner, reader: CatFileObjectReader, connection: MirrorFetchOptions) {
    this.#git = git
    this.#reader = reader
    this.#connection = connection
  }

  readonly local: GitRunner = (args, more) => this.detect('corrupt', this.#git(args, more))

  readonly objects: GitObjectReader = {
    read: (id, limit) => this.detect('corrupt', this.#reader.read(id, limit)),
    tipOf: (ref) => this.detect('corrupt', this.#reader.tipOf(ref)),
  }

  markCorrupt(code: 'corrupt' | 'missing') {
    // Anyone can name an unknown id, so limit how often a missing object recreates the mirror.
    if (code === 'corrupt' || performance.now() - this.#recreatedAt > minMirrorRecreateIntervalMs)
      this.#isDamaged = true
  }

  /** `missing` is for objects that must be here, such as a tree's entry or a commit's tree. */
  async detect<T>(code: 'corrupt' | 'missing', work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (isGitError(error, code)) this.markCorrupt(code)
      throw error
    }
  }

  async fetch(branch: string, pull?: PullNumber): Promise<void> {
    const { signal, directory } = this.#connection
    try {
      await this.#fetchOnce(branch, pull)
    } catch (error) {
      // Git words a broken folder like a misbehaving server, so check the folder.
      if (
        signal.aborted ||
        !isPossibleMirrorDamageError(error) ||
        (await isMirrorIntact(this.#git, directory))
      )
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
      await repackMirrorIfNeeded(this.local, this.#connection.directory)
    } finally {
      this.#isTidying = false
    }
  }

  #toGitFetchOptions(stopping: AbortSignal): GitFetchOptions {
    const signal = AbortSignal.any([this.#connection.signal, stopping])
    return { ...this.#connection, signal, local: this.local, objects: this.objects }
  }
}

/** The folder appears complete or not at all, even if the process dies. */
export async function prepareMirrorDirectory(directory: string): Promise<void> {
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
function isPossibleMirrorDamageError(error: unknown): boolean {
  if (!isGitError(error)) return true
  return ['failed', 'missing', 'corrupt', 'unsupported'].includes(error.code)
}

/** Whether the folder is a repository whose refs lead to existing objects. If git can't start, it counts as sound. */
async function isMirrorIntact(git: GitRunner, directory: string): Promise<boolean> {
  for (const part of ['HEAD', 'objects', 'refs']) if (!(await pathExists(join(directory, part)))) return false
  try {
    return (await git(['for-each-ref', '--format=%(objecttype)'])).stderr.trim() === ''
  } catch (error) {
    return !isGitError(error) || !isPossibleMirrorDamageError(error) || error.cause !== undefined
  }
}

/** Renames first, then deletes. */
async function discardMirrorDirectory(directory: string): Promise<void> {
  if (!(await pathExists(directory))) return
  const aside = await mkdtemp(join(dirname(directory), `.${basename(directory)}-damaged-`))
  await rename(directory, join(aside, 'mirror'))
  await rm(aside, { recursive: true, force: true })
}

export async function readRef(objects: GitObjectReader, ref: string): Promise<CommitSha | undefined> {
  const id = await objects.tipOf(ref)
  return id === undefined ? undefined : toCommitSha(id)
}

/** Combines a mirror's packs if there are many, and removes what dead processes left behind. */
async function repackMirrorIfNeeded(git: GitRunner, directory: string): Promise<void> {
  const packs = (await listDirectoryEntryNames(join(directory, 'objects', 'pack'))).filter((name) =>
    name.endsWith('.pack'),
  ).length
  // One of the 256 folders is used to estimate all of them, like git's own estimate.
  const loose = (await listDirectoryEntryNames(join(directory, 'objects', '17'))).length * 256
  if (packs < maxMirrorPackFiles && loose < maxMirrorLooseObjects) return
  await git(['pack-refs', '--all', '--prune'])
  if (loose < maxMirrorLooseObjects) await git(['repack', '-d', '-q', '--geometric=2'])
  else await git(['gc', '--quiet', '--prune=2.weeks.ago'])
}

/**
 * Removes lock files and unfinished packs of processes that no longer run. Only to be called while no git process
 * works on the mirror: at opening, before the first command.
 */
async function removeStaleLocksAndTempFiles(directory: string): Promise<void> {
  const leftovers: string[] = []
  for (const name of await listDirectoryEntryNames(directory))
    if (name.endsWith('.lock')) leftovers.push(join(directory, name))
  for (const name of await listDirectoryEntryNames(join(directory, 'refs'), true))
    if (name.endsWith('.lock')) leftovers.push(join(directory, 'refs', name))
  for (const folder of ['', 'pack'])
    for (const name of await listDirectoryEntryNames(join(directory, 'objects', folder)))
      if (/^\.?tmp[-_]/.test(name)) leftovers.push(join(directory, 'objects', folder, name))
  for (const path of leftovers) await rm(path, { force: true, recursive: true })
}

async function pathExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function listDirectoryEntryNames(directory: string, recursive = false): Promise<readonly string[]> {
  try {
    return await readdir(directory, { recursive })
  } catch {
    return []
  }
}
