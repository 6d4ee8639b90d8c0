// A bare mirror of one repository on disk, run by the `git` program. One process uses a folder at a time. It is a
// cache: deleting it only costs a fetch.
import { MirrorFolder, prepareMirrorDirectory, readRef } from './mirror-folder.ts'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type CommitSha, type PullNumber, toBlobSha, toCommitSha, toTreeSha } from '../../pull-request/ids.ts'
import type { MergePermit } from '../../policy/merge-permit.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { GitRepository } from '../../ports/repository.ts'
import {
  readCommit,
  readCommitMessage,
  listFirstParentChain,
  isOnFirstParentChain,
  findMergeBases,
  readIncomingCommits,
  readLinearHistory,
} from './commits.ts'
import { GitError } from './git-error.ts'
import { createGitRunner, type GitRunner, readGitVersion } from './run-git.ts'
import { pushMerge, pushMergeBatch, createStagingBranch, deleteStagingBranch } from './push-merge.ts'
import { TreeListingCache } from './listings.ts'
import { requireValidCommitIdentity, mergeCommits, type CommitIdentity } from './merge.ts'
import { createCatFileObjectReader, type GitObjectReader } from './object-reader.ts'
import { createGitRemote, type GitCredential, toMirrorBranchRef, toMirrorPullRef } from './remote.ts'

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
  /** Maximum number of paths of one tree or difference. More fail with GitError `too-large`. */
  readonly maxPaths?: number | undefined
  /**
   * Another process maintains this folder. This process only reads it (merges add objects), and never creates it,
   * fetches into it, or pushes from it. Git ends with this process's group.
   */
  readonly isReadOnly?: boolean | undefined
}

/** Milliseconds. */
export interface GitTimeouts {
  /** A large repository's first fetch takes minutes. */
  readonly fetch: number
  readonly push: number
  /** A local command, and the object reader's maximum silence. */
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

/** Some four times the largest public catalog repository. */
export const defaultMaxTreePaths = 300_000

/** Read once, because each call starts a process. */
let gitVersion: string | undefined

/**
 * Opens or creates the mirror in `directory` without fetching. Rejects with GitError `unsupported` (no git, or older
 * than 2.38) or `refused` (the address, the signature).
 */
export async function openGitMirror(options: GitMirrorOptions): Promise<GitMirror> {
  const remote = createGitRemote(options.url, options.credential)
  const signature = requireValidCommitIdentity(options.signature ?? defaultCommitIdentity)
  const timeouts = { ...defaultGitTimeouts, ...options.timeouts }
  const directory = resolve(options.directory)
  const { isReadOnly: staysInGroup = false, maxPaths = defaultMaxTreePaths, repository } = options
  const version = (gitVersion ??= await readGitVersion())
  if (!staysInGroup) await prepareMirrorDirectory(directory)

  const closing = new AbortController()
  const { signal } = closing
  const git = createGitRunner({ directory, timeout: timeouts.local, signal, staysInGroup })
  const reader = createCatFileObjectReader({ directory, timeout: timeouts.local, staysInGroup })
  const folder = new MirrorFolder(git, reader, { directory, remote, timeout: timeouts.fetch, signal })
  const { local, objects } = folder
  const { diff, list, entry, isWellWritten } = new TreeListingCache(local, objects, maxPaths)
  const merging = { git: local, objects, diff, isWellWritten, directory, signature }
  const pushing = { directory, remote, timeout: timeouts.push, signal, objects, repository }
  const ifWritable =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (staysInGroup) throw new GitError('refused', 'a read-only mirror cannot fetch or push')
      return work(...args)
    }

  return {
    version,
    get readerPid() {
      return reader.pid
    },
    markCorrupt: (code) => folder.markCorrupt(code),
    fetch: ifWritable((branch: string, pull?: PullNumber) => folder.fetch(branch, pull)),
    fetchTestMerge: ifWritable((pull: PullNumber) => folder.fetchTestMerge(pull)),
    tip: async (branch) => readRef(objects, toMirrorBranchRef(branch)),
    pullHead: async (pull) => readRef(objects, toMirrorPullRef(pull)),
    merge: async (base, head, message) =>
      folder.detect('missing', mergeCommits(merging, toCommitSha(base), toCommitSha(head), message)),
    ...createHistoryReader(local, objects),
    diff: async (before, after) => folder.detect('missing', diff(toTreeSha(before), toTreeSha(after))),
    list: async (tree, prefix = '') => folder.detect('missing', list(toTreeSha(tree), prefix)),
    entry: async (tree, path) => folder.detect('missing', entry(toTreeSha(tree), path)),
    read: async (blob, limit = maxBlobBytes) => {
      const { type, bytes } = await folder.detect('missing', objects.read(toBlobSha(blob), limit))
      if (type !== 'blob') throw new GitError('missing', `object ${blob} is a ${type}, not a blob`)
      return bytes
    },
    pushMerge: ifWritable((permit: MergePermit, as?: CommitSha) => pushMerge(pushing, permit, as)),
    pushMergeBatch: ifWritable((permits: readonly MergePermit[]) => pushMergeBatch(pushing, permits)),
    createStagingBranch: ifWritable((permit: MergePermit) => createStagingBranch(pushing, permit)),
    deleteStagingBranch: ifWritable((branch: string, commit: CommitSha) =>
      deleteStagingBranch(pushing, branch, commit),
    ),
    close: async () => {
      closing.abort()
      reader.close()
      await folder.idle()
    },
  }
}

/** Reads about commits, which need neither the server nor the listings. */
function createHistoryReader(local: GitRunner, objects: GitObjectReader) {
  return {
    treeOf: async (commit) => (await readCommit(objects, toCommitSha(commit))).tree,
    parentsOf: async (commit) => (await readCommit(objects, toCommitSha(commit))).parents,
    messageOf: async (commit) => readCommitMessage(objects, toCommitSha(commit)),
    contains: async (commit, ancestor) => {
      const [tip, earlier] = [toCommitSha(commit), toCommitSha(ancestor)]
      const above = await readLinearHistory(objects, tip, earlier)
      if (above !== undefined) return above.fork === earlier
      const missing = await readLinearHistory(objects, earlier, tip)
      if (missing !== undefined) return missing.line.length === 0
      return (await local(['merge-base', '--is-ancestor', earlier, tip], { answers: [0, 1] })).code === 0
    },
    mergeBases: async (one, other) =>
      findMergeBases({ git: local, objects }, toCommitSha(one), toCommitSha(other)),
    firstParents: async (tip, since) => listFirstParentChain(local, toCommitSha(tip), toCommitSha(since)),
    wasTip: async (tip, commit) => isOnFirstParentChain(local, toCommitSha(tip), toCommitSha(commit)),
    readIncomingCommits: async (base, head) =>
      readIncomingCommits({ git: local, objects }, toCommitSha(base), toCommitSha(head)),
  } satisfies Partial<GitMirror>
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
