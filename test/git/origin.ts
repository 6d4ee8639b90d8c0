// A bare repository that stands for GitHub's: commits are made in it with git's own plumbing, so that a test can
// state whole trees, odd modes and criss-cross histories in a line each.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitSha, pullNumber, treeSha, type CommitSha, type TreeSha } from '../../src/change/ids.ts'

export type File = string | { readonly mode: string; readonly content?: string; readonly oid?: string }
export type Files = Readonly<Record<string, File>>

export interface Origin {
  readonly directory: string
  readonly url: string
  git(args: readonly string[], input?: string | Buffer): string
  /** A commit with exactly these files. */
  commit(files: Files, parents?: readonly CommitSha[], options?: CommitOptions): CommitSha
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

const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

export function temporary(name: string): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `catalog-bot-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

export function makeOrigin(directory: string): Origin {
  const run = (args: readonly string[], input?: string | Buffer): string => {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: directory,
      env: environment,
      input: input ?? '',
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
    return stdout.toString().trim()
  }
  execFileSync('git', ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', directory], {
    env: environment,
  })
  let clock = 1_700_000_000

  const importCommit = (lines: readonly Buffer[], parents: readonly CommitSha[], options: CommitOptions) => {
    const who = options.author ?? 'Someone <someone@example.com>'
    const time = options.time ?? (clock += 60)
    const head = [
      'commit refs/scratch\nmark :1\n',
      `author ${who} ${time} +0000\ncommitter ${who} ${time} +0000\ndata 3\nwip\n`,
      ...(parents[0] === undefined ? [] : [`from ${parents[0]}\n`]),
      ...parents.slice(1).map((parent) => `merge ${parent}\n`),
    ]
    const input = Buffer.concat([
      Buffer.from('reset refs/scratch\n\n'),
      Buffer.from(head.join('')),
      Buffer.from('deleteall\n'),
      ...lines,
      Buffer.from('\nget-mark :1\n'),
    ])
    return commitSha(run(['fast-import', '--quiet', '--force', '--date-format=raw'], input))
  }

  return {
    directory,
    url: `file://${directory}`,
    git: run,
    commit: (files, parents = [], options = {}) =>
      importCommit(
        Object.entries(files).map(([path, file]) => {
          const {
            mode,
            content = '',
            oid,
          } = typeof file === 'string' ? { mode: '100644', content: file } : file
          const name = `"${path.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`
          if (oid !== undefined) return Buffer.from(`M ${mode} ${oid} ${name}\n`)
          const data = Buffer.from(content)
          return Buffer.concat([
            Buffer.from(`M ${mode} inline ${name}\ndata ${data.length}\n`),
            data,
            Buffer.from('\n'),
          ])
        }),
        parents,
        options,
      ),
    commitTree: (tree, parents = [], options = {}) =>
      importCommit([Buffer.from(`M 040000 ${tree} ""\n`)], parents, options),
    branch: (name, commit) => void run(['update-ref', `refs/heads/${name}`, commit]),
    pull: (number, commit) => void run(['update-ref', `refs/pull/${pullNumber(number)}/head`, commit]),
    tip: (branch) => commitSha(run(['rev-parse', `refs/heads/${branch}`])),
    tree: (commit) => treeSha(run(['rev-parse', `${commit}^{tree}`])),
  }
}

/** Lines `prefix 1` ... `prefix n`: a file long enough for git to see it again after a move. */
export function longFile(prefix: string, lines: number, changed?: number): string {
  return Array.from(
    { length: lines },
    (_, at) => `${prefix} ${at + 1}${at + 1 === changed ? ' changed' : ''}\n`,
  ).join('')
}
