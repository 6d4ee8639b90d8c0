// The Git storage of the sandbox: real bare repositories. The most frequent operations work on their files
// (loose-objects.ts), and the others run the Git program in an isolated environment. There is never a working tree. A
// fork shares its parent's object folder, as on GitHub, so every commit of the network is reachable by its ID in each
// of its repositories.
import { mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { runProcessViaLauncher } from '../../../src/adapters/git/launcher.ts'
import type { ProcessResult } from '../../../src/adapters/git/run-process.ts'
import {
  isAncestorInLooseObjects,
  readLooseCommitObject,
  findMergeBaseInLooseObjects,
  listCommitRangeInLooseObjects,
} from './loose-history.ts'
import {
  readLooseObjectsOrRunGit,
  NotLooseObjectError,
  readLooseObject,
  writeLooseObject,
} from './loose-objects.ts'
import { editLooseTreeObject, mergeTreesThreeWay, type TreeFileEdit } from './loose-trees.ts'
import { updateRefFile, readRefs } from './refs.ts'

/** The content to write at a path: text or bytes, optionally executable or a link. Null deletes the path. */
export type FileChange =
  string | Uint8Array | null | { readonly content: string | Uint8Array; readonly mode: GitFileMode }
export type GitFileMode = '100644' | '100755' | '120000'
export type FileChangesByPath = Readonly<Record<string, FileChange>>

export interface GitIdentity {
  readonly name: string
  readonly email: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export class GitCommandError extends Error {
  readonly status: number | null
  constructor(args: readonly string[], status: number | null, stderr: string) {
    super(`git ${args.slice(0, 2).join(' ')} exited with ${String(status)}: ${stderr.trim()}`)
    this.name = 'GitCommandError'
    this.status = status
  }
}

/** Milliseconds. */
const gitTimeoutMs = 600_000

// The configuration of the machine or the user must not change the sandbox's behavior.
export const isolatedGitEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

/** Runs a Git program in the isolated environment to completion. */
export const runInIsolatedGitEnvironment = (
  program: string,
  args: readonly string[],
  input: Uint8Array = new Uint8Array(),
  environment: Readonly<Record<string, string>> = {},
): Promise<ProcessResult> =>
  runProcessViaLauncher({
    program,
    args,
    directory: '/',
    environment: { ...isolatedGitEnvironment, ...environment },
    input,
    timeout: gitTimeoutMs,
    limit: Infinity,
    hasGroup: false,
  })

/**
 * Runs Git on a bare repository, and returns its output as bytes. Throws a GitCommandError on an exit status other than
 * 0.
 */
export async function runGitForBytes(
  path: string,
  args: readonly string[],
  input: Iterable<Uint8Array> = [],
): Promise<Buffer> {
  const { code, stdout, stderr } = await runInIsolatedGitEnvironment(
    'git',
    ['--git-dir', path, ...args],
    Buffer.concat([...input]),
  )
  if (code !== 0) throw new GitCommandError(args, code, stderr)
  return stdout
}

export async function runGitForText(path: string, ...args: string[]): Promise<string> {
  return (await runGitForBytes(path, args)).toString()
}

/** Returns true or false for exit status 0 or 1. Throws on any other status. */
async function runGitForBoolean(path: string, ...args: string[]): Promise<boolean> {
  try {
    await runGitForBytes(path, args)
    return true
  } catch (error) {
    if (error instanceof GitCommandError && error.status === 1) return false
    throw error
  }
}

const bareRepositoryConfig = `[core]
\trepositoryformatversion = 0
\tbare = true
\tfsync = none
[gc]
\tauto = 0
[http]
\treceivepack = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
\tallowReachableSHA1InWant = true
[receive]
\tautogc = false
\thideRefs = refs/pull
\tadvertisePushOptions = true
[transfer]
\tunpackLimit = 200
`

/**
 * Creates an empty bare repository manually, which is faster than starting Git. `sharing` makes it a fork of that
 * repository.
 */
export async function createBareRepository(path: string, branch: string, sharing?: string): Promise<void> {
  await mkdir(join(path, 'refs', 'heads'), { recursive: true })
  if (sharing === undefined) await mkdir(join(path, 'objects', 'pack'), { recursive: true })
  else await symlink(relative(path, join(sharing, 'objects')), join(path, 'objects'))
  await writeFile(join(path, 'HEAD'), `ref: refs/heads/${branch}\n`)
  await writeFile(join(path, 'config'), bareRepositoryConfig)
}

function* buildFastImportStream(
  ref: string,
  parent: string | undefined,
  files: FileChangesByPath,
  message: string,
  by: GitIdentity,
) {
  const line = (text: string) => Buffer.from(`${text}\n`)
  const data = (content: string | Uint8Array) => {
    const bytes = Buffer.from(content)
    return Buffer.concat([line(`data ${bytes.length}`), bytes, line('')])
  }
  yield line(`commit ${ref}`)
  yield line('mark :1')
  yield line(`committer ${by.name} <${by.email}> ${Math.floor(by.at / 1000)} +0000`)
  yield data(message)
  if (parent !== undefined) yield line(`from ${parent}`)
  for (const [path, change] of Object.entries(files)) {
    // Quoted, so that a path can contain any byte except NUL.
    const quoted = `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`
    if (change === null) yield line(`D ${quoted}`)
    else {
      const given = typeof change === 'string' || change instanceof Uint8Array ? undefined : change
      yield line(`M ${given?.mode ?? '100644'} inline ${quoted}`)
      yield data(given?.content ?? (change as string | Uint8Array))
    }
  }
  // Git prints the ID. The ref existed only for the import and is deleted.
  yield line('get-mark :1')
  yield line(`reset ${ref}`)
  yield line(`from ${'0'.repeat(40)}`)
}

let lastScratchRefNumber = 0
/** With this number of files, a pack is faster than separate object files. */
const minFilesForFastImport = 200

/**
 * Creates a commit of `files` on top of `parent`, keeping all its other files, and returns its ID. Does not change
 * any ref. The caller decides which ref gets the commit.
 */
export async function commitFiles(
  path: string,
  parent: string | undefined,
  files: FileChangesByPath,
  message: string,
  by: GitIdentity,
): Promise<string> {
  const edits = Object.entries(files).map(([file, change]): TreeFileEdit => ({
    path: file,
    to: toFileModeAndBytes(change),
  }))
  const commitLoose = (): string => {
    if (edits.length > minFilesForFastImport) throw new NotLooseObjectError('many files')
    const tree = editLooseTreeObject(
      path,
      parent === undefined ? undefined : readLooseCommitObject(path, parent).tree,
      edits,
    )
    const parents = parent === undefined ? [] : [parent]
    return writeLooseObject(path, 'commit', formatCommitObject(tree, parents, message, by, by))
  }
  return await readLooseObjectsOrRunGit(commitLoose, () => runFastImport(path, parent, files, message, by))
}

function toFileModeAndBytes(change: FileChange): TreeFileEdit['to'] {
  if (change === null) return undefined
  const given = typeof change === 'string' || change instanceof Uint8Array ? { content: change } : change
  return { mode: 'mode' in given ? given.mode : '100644', bytes: Buffer.from(given.content) }
}

async function runFastImport(
  path: string,
  parent: string | undefined,
  files: FileChangesByPath,
  message: string,
  by: GitIdentity,
): Promise<string> {
  const ref = `refs/scratch/${++lastScratchRefNumber}`
  const commands = buildFastImportStream(ref, parent, files, message, by)
  return (
    await runGitForBytes(
      path,
      ['-c', 'core.compression=1', 'fast-import', '--quiet', '--depth=0', '--date-format=raw'],
      commands,
    )
  )
    .toString()
    .trim()
}

/** All files in a folder, including links and executable bits, without `.git`. */
export async function readFilesRecursively(directory: string): Promise<FileChangesByPath> {
  const files: Record<string, FileChange> = {}
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name)
    const path = relative(directory, full).split(sep).join('/')
    if (!entry.isFile() || path === '.git' || path.startsWith('.git/')) continue
    const content = await readFile(full)
    const executable = ((await stat(full)).mode & 0o100) !== 0
    files[path] = executable ? { content, mode: '100755' } : content
  }
  return files
}

/** Branches (`refs/heads/`) and tags with their IDs. */
export async function readBranchesAndTags(path: string): Promise<Map<string, string>> {
  return await readRefs(path, ['refs/heads/', 'refs/tags/'])
}

/** Sets a ref. With `expected`, only if the ref has that value ('': the ref must not exist). */
export async function setRef(path: string, ref: string, sha: string, expected?: string): Promise<void> {
  const isThere = () => readLooseObject(path, sha).type === 'commit'
  if ((await readLooseObjectsOrRunGit(isThere, async () => false)) && updateRefFile(path, ref, sha, expected))
    return
  await runGitForText(
    path,
    'update-ref',
    ref,
    sha,
    ...(expected === undefined ? [] : [expected || '0'.repeat(40)]),
  )
}

export async function deleteRef(path: string, ref: string): Promise<void> {
  if (!updateRefFile(path, ref, undefined)) await runGitForText(path, 'update-ref', '-d', ref)
}

/** Commits that are known to exist, by repository and ID. Commits are never removed. */
const knownCommitCache = new Set<string>()

/** The commit that a branch, tag, full ref, or ID refers to, or undefined. */
export async function resolveCommit(path: string, name: string): Promise<string | undefined> {
  if (name.startsWith('-')) return undefined
  if (knownCommitCache.has(`${path} ${name}`)) return name
  const isCommit = (id: string) =>
    readLooseObjectsOrRunGit(
      () => readLooseObject(path, id).type === 'commit',
      async () => false,
    )
  if (/^[0-9a-f]{40}$/.test(name) && (await isCommit(name))) {
    knownCommitCache.add(`${path} ${name}`)
    return name
  }
  const branch = (await readRefs(path, [`refs/heads/${name}`])).get(`refs/heads/${name}`)
  if (branch !== undefined && (knownCommitCache.has(`${path} ${branch}`) || (await isCommit(branch))))
    return branch
  const candidates = /^[0-9a-f]{40}$/.test(name)
    ? [name]
    : [
        `refs/heads/${name}`,
        `refs/tags/${name}`,
        `refs/${name}`,
        ...(/^[0-9a-f]{7,39}$/.test(name) ? [name] : []),
      ]
  for (const candidate of candidates)
    try {
      const found = (
        await runGitForText(
          path,
          'rev-parse',
          '--verify',
          '--quiet',
          '--end-of-options',
          `${candidate}^{commit}`,
        )
      ).trim()
      knownCommitCache.add(`${path} ${found}`)
      return found
    } catch (error) {
      if (!(error instanceof GitCommandError)) throw error
    }
  return undefined
}

export async function isAncestor(path: string, ancestor: string, commit: string): Promise<boolean> {
  return await readLooseObjectsOrRunGit(
    () => isAncestorInLooseObjects(path, commit, ancestor),
    () => runGitForBoolean(path, 'merge-base', '--is-ancestor', ancestor, commit),
  )
}

/** The commits that `tip` contains and `known` do not, in the order of `git log`: newest first. */
export async function listCommitsNotReachableFrom(
  path: string,
  known: readonly string[],
  tip: string,
): Promise<readonly string[]> {
  return await readLooseObjectsOrRunGit(
    () => listCommitRangeInLooseObjects(path, tip, known),
    async () => {
      const text = await runGitForText(path, 'rev-list', tip, ...known.map((it) => `^${it}`))
      return text.split('\n').filter(Boolean)
    },
  )
}

/** The best common ancestor, or undefined for unrelated histories. */
export async function findMergeBase(path: string, one: string, other: string): Promise<string | undefined> {
  return await readLooseObjectsOrRunGit(
    () => findMergeBaseInLooseObjects(path, one, other),
    () =>
      returnUndefinedOnExitStatus1(async () => (await runGitForText(path, 'merge-base', one, other)).trim()),
  )
}

export async function readCommitTree(path: string, commit: string): Promise<string> {
  return await readLooseObjectsOrRunGit(
    () => readLooseCommitObject(path, commit).tree,
    async () => (await runGitForText(path, 'rev-parse', `${commit}^{tree}`)).trim(),
  )
}

export async function readCommitParents(path: string, commit: string): Promise<readonly string[]> {
  return await readLooseObjectsOrRunGit(
    () => readLooseCommitObject(path, commit).parents,
    async () =>
      (await runGitForText(path, 'rev-list', '--no-walk', '--parents', commit)).trim().split(' ').slice(1),
  )
}

/** The tree of a merge of `head` into `base`, or undefined if they conflict. */
export async function mergeTrees(path: string, base: string, head: string): Promise<string | undefined> {
  const mergeLoose = (): string => {
    const commonAncestor = findMergeBaseInLooseObjects(path, base, head)
    if (commonAncestor === undefined) throw new NotLooseObjectError('nothing in common')
    const [ancestor, ours, theirs] = [commonAncestor, base, head].map(
      (it) => readLooseCommitObject(path, it).tree,
    )
    return mergeTreesThreeWay(path, ancestor ?? '', ours ?? '', theirs ?? '')
  }
  const args = ['merge-tree', '--write-tree', '--no-messages', base, head]
  return await readLooseObjectsOrRunGit(mergeLoose, () =>
    returnUndefinedOnExitStatus1(async () => (await runGitForText(path, ...args)).split('\n')[0]),
  )
}

/** Undefined if Git exits with 1: the object does not exist. */
async function returnUndefinedOnExitStatus1<T>(runCommand: () => Promise<T>): Promise<T | undefined> {
  try {
    return await runCommand()
  } catch (error) {
    if (error instanceof GitCommandError && error.status === 1) return undefined
    throw error
  }
}

const formatGitIdentity = ({ name, email, at }: GitIdentity): string =>
  `${name} <${email}> ${Math.floor(at / 1000)} +0000`

export async function commitTree(
  path: string,
  tree: string,
  parents: readonly string[],
  message: string,
  author: GitIdentity,
  committer = author,
): Promise<string> {
  return writeLooseObject(
    path,
    'commit',
    formatCommitObject(tree, parents, `${message}\n`, author, committer),
  )
}

function formatCommitObject(
  tree: string,
  parents: readonly string[],
  message: string,
  author: GitIdentity,
  committer: GitIdentity,
): Buffer {
  const lines = [
    `tree ${tree}`,
    ...parents.map((it) => `parent ${it}`),
    `author ${formatGitIdentity(author)}`,
    `committer ${formatGitIdentity(committer)}`,
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${message}`)
}

export async function writeGitBlob(path: string, bytes: Uint8Array): Promise<string> {
  return (await runGitForBytes(path, ['hash-object', '-w', '--stdin'], [bytes])).toString().trim()
}

/** The tree of `base` with these blobs added or replaced. */
export async function writeGitTree(
  path: string,
  base: string | undefined,
  entries: readonly { readonly path: string; readonly mode: string; readonly sha: string }[],
): Promise<string> {
  const by = { name: 'x', email: 'x', at: 0 }
  const parent = base === undefined ? undefined : await commitTree(path, base, [], 'base', by)
  const files: Record<string, FileChange> = {}
  for (const { path: at, mode, sha } of entries)
    files[at] = { content: await runGitForBytes(path, ['cat-file', 'blob', sha]), mode: mode as GitFileMode }
  const commit = await commitFiles(path, parent, files, 'tree', by)
  return (await runGitForText(path, 'rev-parse', `${commit}^{tree}`)).trim()
}
