// A bare repository in place of GitHub's: commits are written as git writes them, so that a test can define complete
// trees, unusual modes, and criss-cross histories in one line each.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import {
  toCommitSha,
  toPullNumber,
  toTreeSha,
  type CommitSha,
  type TreeSha,
} from '../../../src/pull-request/ids.ts'
import { openGitMirror, type GitMirror } from '../../../src/adapters/git/mirror.ts'
import { createCatFileObjectReader } from '../../../src/adapters/git/object-reader.ts'
import { createGitRunner, type GitRunner } from '../../../src/adapters/git/run-git.ts'

export type OriginFile = string | { readonly mode: string; readonly content?: string; readonly oid?: string }
export type OriginFiles = Readonly<Record<string, OriginFile>>

export interface OriginRepository {
  readonly directory: string
  readonly url: string
  git(args: readonly string[], input?: string | Buffer): string
  /** A commit with exactly these files. */
  commit(files: OriginFiles, parents?: readonly CommitSha[], options?: CommitOptions): CommitSha
  commitTree(tree: TreeSha, parents?: readonly CommitSha[], options?: CommitOptions): CommitSha
  branch(name: string, commit: CommitSha): void
  pull(number: number, commit: CommitSha): void
  tip(branch: string): CommitSha
  tree(commit: CommitSha): TreeSha
}

export interface CommitOptions {
  readonly time?: number
  readonly author?: string
}

const gitEnvironmentVariables = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

export function createTemporaryDirectory(name: string): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `catalog-bot-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

export function createOriginRepository(directory: string): OriginRepository {
  execFileSync('git', ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', directory], {
    env: gitEnvironmentVariables,
  })
  return openOriginRepository(directory)
}

/** A bare repository, a reader of its objects, and a runner that records the subcommands that ran in a git process. */
export function createRecordedRepository(name: string) {
  const temporaryDirectory = createTemporaryDirectory(name)
  const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
  const abortController = new AbortController()
  const options = { directory: originRepository.directory, timeout: 60_000, signal: abortController.signal }
  const gitObjectReader = createCatFileObjectReader(options)
  const run = createGitRunner(options)
  const recordedGitCalls: string[] = []
  const runLocalGit: GitRunner = (args, more) => {
    recordedGitCalls.push(args[0] ?? '')
    return run(args, more)
  }
  const close = () => {
    abortController.abort()
    gitObjectReader.close()
    temporaryDirectory.remove()
  }
  /** A tree object with exactly these entries, valid or not. */
  const writeRawTree = (...entries: readonly (readonly [mode: string, name: string, oid: string])[]) => {
    const parts = entries.flatMap(([mode, path, oid]) => [
      Buffer.from(`${mode} ${path}\0`),
      Buffer.from(oid, 'hex'),
    ])
    const args = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin']
    return toTreeSha(originRepository.git(args, Buffer.concat(parts)))
  }
  return { originRepository, gitObjectReader, recordedGitCalls, runLocalGit, writeRawTree, close }
}

export const openAnonymousMirror = (directory: string, url: string): Promise<GitMirror> =>
  openGitMirror({ directory, url, credential: async () => undefined })

/** Opens an existing bare repository. */
export function openOriginRepository(directory: string): OriginRepository {
  const run = (args: readonly string[], input?: string | Buffer): string => {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: directory,
      env: gitEnvironmentVariables,
      input: input ?? '',
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
    return stdout.toString().trim()
  }
  let clock = 1_700_000_000

  const objects = createGitObjectWriter(directory)
  const write = (tree: TreeSha, parents: readonly CommitSha[], options: CommitOptions): CommitSha => {
    const authorLine = options.author ?? 'Someone <someone@example.com>'
    const time = options.time ?? (clock += 60)
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${authorLine} ${time} +0000`,
      `committer ${authorLine} ${time} +0000`,
      '',
      'wip',
    ]
    return toCommitSha(objects.put('commit', Buffer.from(lines.join('\n'))))
  }

  return {
    directory,
    url: `file://${directory}`,
    git: run,
    commit: (files, parents = [], options = {}) => write(writeTree(objects, files), parents, options),
    commitTree: (tree, parents = [], options = {}) => write(tree, parents, options),
    branch: (name, commit) => writeRef(directory, `refs/heads/${name}`, commit),
    pull: (number, commit) => writeRef(directory, `refs/pull/${toPullNumber(number)}/head`, commit),
    tip: (branch) => toCommitSha(readRef(directory, branch) ?? run(['rev-parse', `refs/heads/${branch}`])),
    tree: (commit) => toTreeSha(objects.treeOf(commit) ?? run(['rev-parse', `${commit}^{tree}`])),
  }
}

/** Writes a loose ref atomically, as git does, so that a concurrent reader never sees half of it. */
function writeRef(directory: string, name: string, commit: CommitSha): void {
  const file = join(directory, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.lock`, `${commit}\n`)
  renameSync(`${file}.lock`, file)
}

/** Undefined if the ref is packed or does not exist. */
function readRef(directory: string, branch: string): string | undefined {
  const file = join(directory, 'refs/heads', branch)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

interface GitObjectWriter {
  /** The object's id. */
  put(type: 'blob' | 'tree' | 'commit', content: Buffer): string
  /** Undefined if this writer did not write the commit. */
  treeOf(commit: CommitSha): string | undefined
}

/** Writes objects in this process: a test makes hundreds of commits, and a git process for each would be slower. */
function createGitObjectWriter(directory: string): GitObjectWriter {
  const known = new Set<string>()
  const trees = new Map<string, string>()
  return {
    treeOf: (commit) => trees.get(commit),
    put(type, content) {
      const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
      const oid = createHash('sha1').update(whole).digest('hex')
      if (known.has(oid)) return oid
      known.add(oid)
      if (type === 'commit') trees.set(oid, content.toString('latin1', 'tree '.length, 'tree '.length + 40))
      const folder = join(directory, 'objects', oid.slice(0, 2))
      const file = join(folder, oid.slice(2))
      if (existsSync(file)) return oid
      mkdirSync(folder, { recursive: true })
      // Renamed when complete, so that a concurrent git process never reads half of it.
      writeFileSync(`${file}.new`, deflateSync(whole, { level: 1 }), { mode: 0o444 })
      renameSync(`${file}.new`, file)
      return oid
    },
  }
}

type NestedTreeMap = Map<string, NestedTreeMapEntry>
type NestedTreeMapEntry = { readonly below: NestedTreeMap } | { readonly mode: string; readonly oid: string }

/** A tree with exactly these files; a later path replaces an earlier one that conflicts with it. */
function writeTree(objects: GitObjectWriter, files: OriginFiles): TreeSha {
  const root: NestedTreeMap = new Map()
  for (const [path, file] of Object.entries(files)) {
    const { mode, content = '', oid } = typeof file === 'string' ? { mode: '100644', content: file } : file
    const names = path.split('/')
    const last = names.pop() ?? ''
    let folder = root
    for (const name of names) {
      const there = folder.get(name)
      const below: NestedTreeMap = there !== undefined && 'below' in there ? there.below : new Map()
      folder.set(name, { below })
      folder = below
    }
    folder.set(last, { mode, oid: oid ?? objects.put('blob', Buffer.from(content)) })
  }
  return toTreeSha(writeTreeRecursively(objects, root))
}

function writeTreeRecursively(objects: GitObjectWriter, folder: NestedTreeMap): string {
  const entries = [...folder].map(([name, held]) => {
    const { mode, oid } =
      'below' in held ? { mode: '40000', oid: writeTreeRecursively(objects, held.below) } : held
    const short = mode.replace(/^0/, '')
    return {
      // Directories are sorted as if their names ended with a slash.
      order: Buffer.from(short === '40000' ? `${name}/` : name),
      bytes: Buffer.concat([Buffer.from(`${short} ${name}\0`), Buffer.from(oid, 'hex')]),
    }
  })
  const sorted = entries.toSorted((one, other) => Buffer.compare(one.order, other.order))
  return objects.put('tree', Buffer.concat(sorted.map(({ bytes }) => bytes)))
}

/** Lines `prefix 1` ... `prefix n`: a file long enough for git to detect its rename. */
export function createNumberedLines(prefix: string, lines: number, changed?: number): string {
  return Array.from(
    { length: lines },
    (_, at) => `${prefix} ${at + 1}${at + 1 === changed ? ' changed' : ''}\n`,
  ).join('')
}
