// The git server next to emulate, which knows refs and objects but no git protocol. Emulate decides whether a push may
// move a ref, with the token of the push: it first receives the pushed objects, then moves its own ref, then git
// accepts the push.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Sends emulate a request with this token. Resolves with status and body. */
export type AuthenticatedRequestSender = (
  token: string,
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly data: unknown }>

export interface RefUpdateCommand {
  readonly old: string
  readonly new: string
  readonly ref: string
}

export interface GitBackend {
  /** The directory with `OWNER/NAME.git`. */
  readonly root: string
  git(repository: string, args: readonly string[], input?: string | Buffer): Promise<string>
  create(repository: string): Promise<void>
  /** Creates a repository with all branches of another, as emulate does for a fork. */
  fork(from: string, to: string): Promise<void>
  /** Asks emulate about a push. Returns the rejection in git's protocol, or nothing if git may accept the push. */
  checkPush(repository: string, token: string, body: Buffer): Promise<Buffer | undefined>
  /** Sends emulate all objects of a commit that it lacks in this repository. */
  announceCommits(repository: string, token: string, commit: string, known: readonly string[]): Promise<void>
}

const zeroSha = '0'.repeat(40)

export function createGitBackend(root: string, ask: AuthenticatedRequestSender): GitBackend {
  const directoryOf = (repository: string): string => join(root, `${repository}.git`)

  const git: GitBackend['git'] = async (repository, args, input) =>
    (await runGit(['-C', directoryOf(repository), ...args], input)).toString()

  const announceCommits: GitBackend['announceCommits'] = async (repository, token, commit, known) => {
    const not = known.length === 0 ? [] : ['--not', ...known]
    const list = await git(repository, ['rev-list', '--objects', '--no-object-names', commit, ...not])
    const objects = await readGitObjects(directoryOf(repository), list.split('\n').filter(Boolean))
    const give = async (kind: string, sha: string, body: unknown): Promise<void> => {
      const { status, data } = await ask(token, 'POST', `/repos/${repository}/git/${kind}`, body)
      const named = (data as { sha?: string }).sha
      if (status !== 201 || named !== sha)
        throw new PushRejectedError(
          `emulate took ${kind} ${sha} as ${status} ${named ?? JSON.stringify(data)}`,
        )
    }
    const trees = new Map(objects.filter(({ type }) => type === 'tree').map((each) => [each.sha, each]))
    const given = new Set<string>()
    const giveTree = async (sha: string): Promise<void> => {
      const tree = trees.get(sha)
      if (tree === undefined || given.has(sha)) return
      given.add(sha)
      const entries = parseTreeEntries(tree.content)
      for (const entry of entries) if (entry.type === 'tree') await giveTree(entry.sha)
      await give('trees', sha, { tree: entries })
    }
    for (const { type, sha, content } of objects)
      if (type === 'blob')
        await give('blobs', sha, { content: content.toString('base64'), encoding: 'base64' })
    for (const sha of trees.keys()) await giveTree(sha)
    // git lists parents after their children.
    for (const { type, sha, content } of [...objects].reverse())
      if (type === 'commit') await give('commits', sha, parseCommitObject(content.toString()))
  }

  const move = async (repository: string, token: string, { old, new: to, ref }: RefUpdateCommand) => {
    const path = `/repos/${repository}/git/refs`
    const name = ref.replace(/^refs\//, '')
    if (to === zeroSha) return ask(token, 'DELETE', `${path}/${name}`)
    if (old === zeroSha) return ask(token, 'POST', path, { ref, sha: to })
    const gently = await ask(token, 'PATCH', `${path}/${name}`, { sha: to, force: false })
    const isRewound = gently.status === 422 && /fast-forward/.test(JSON.stringify(gently.data))
    return isRewound ? ask(token, 'PATCH', `${path}/${name}`, { sha: to, force: true }) : gently
  }

  const create: GitBackend['create'] = async (repository) => {
    const directory = directoryOf(repository)
    await mkdir(directory, { recursive: true })
    await runGit(['init', '--quiet', '--bare', '--initial-branch=main', directory])
    for (const [name, value] of [
      ['http.receivepack', 'true'],
      ['uploadpack.allowFilter', 'true'],
      ['uploadpack.allowAnySHA1InWant', 'true'],
    ] as const)
      await git(repository, ['config', name, value])
  }

  return {
    root,
    git,
    announceCommits,
    create,
    async fork(from, to) {
      await create(to)
      await git(to, ['fetch', '--quiet', directoryOf(from), '+refs/heads/*:refs/heads/*'])
    },
    async checkPush(repository, token, body) {
      const { commands, pack } = parseRefUpdateCommands(body)
      const refs = (await git(repository, ['for-each-ref', '--format=%(objectname) %(refname)'])).split('\n')
      // Git itself rejects a command with an outdated old value.
      const isStale = commands.some(
        ({ old, ref }) => (refs.find((line) => line.endsWith(` ${ref}`))?.slice(0, 40) ?? zeroSha) !== old,
      )
      if (isStale) return undefined
      try {
        if (pack.length > 0) await git(repository, ['index-pack', '--stdin', '--fix-thin'], pack)
        const known = refs.map((line) => line.slice(0, 40)).filter(Boolean)
        for (const { new: to } of commands)
          if (to !== zeroSha) await announceCommits(repository, token, to, known)
        for (const command of commands) {
          const { status, data } = await move(repository, token, command)
          if (status >= 300)
            throw new PushRejectedError(`${(data as { message?: string }).message ?? status}`)
        }
        return undefined
      } catch (error) {
        if (!(error instanceof PushRejectedError)) throw error
        return formatPushRejection(commands, error.message)
      }
    },
  }
}

class PushRejectedError extends Error {}

async function runGit(args: readonly string[], input?: string | Buffer): Promise<Buffer> {
  const child = spawn('git', args, {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const errors: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${Buffer.concat(errors).toString()}`)
  return Buffer.concat(out)
}

interface GitObject {
  readonly sha: string
  readonly type: string
  readonly content: Buffer
}

async function readGitObjects(directory: string, shas: readonly string[]): Promise<GitObject[]> {
  const output = await runGit(
    ['-C', directory, 'cat-file', '--batch'],
    shas.map((sha) => `${sha}\n`).join(''),
  )
  const objects: GitObject[] = []
  let at = 0
  while (at < output.length) {
    const end = output.indexOf('\n', at)
    const [sha = '', type = '', size = '0'] = output.toString('latin1', at, end).split(' ')
    objects.push({ sha, type, content: output.subarray(end + 1, end + 1 + Number(size)) })
    at = end + 2 + Number(size)
  }
  return objects
}

function parseTreeEntries(tree: Buffer): { path: string; mode: string; type: string; sha: string }[] {
  const entries = []
  for (let at = 0; at < tree.length;) {
    const end = tree.indexOf(0, at)
    const [mode = '', path = ''] = tree.toString('utf8', at, end).split(/ (.*)/s)
    const sha = tree.toString('hex', end + 1, end + 21)
    const type = mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'
    entries.push({ path, mode: mode.padStart(6, '0'), type, sha })
    at = end + 21
  }
  return entries
}

function parseCommitObject(text: string): unknown {
  const end = text.indexOf('\n\n')
  const lines = text.slice(0, end).split('\n')
  const person = (role: string) => {
    const line = lines.find((each) => each.startsWith(`${role} `)) ?? ''
    const [, name, email, seconds] = /^\w+ (.*) <(.*)> (\d+) /.exec(line) ?? []
    return { name, email, date: new Date(Number(seconds) * 1000).toISOString() }
  }
  return {
    message: text.slice(end + 2),
    tree: lines[0]?.slice('tree '.length),
    parents: lines.filter((line) => line.startsWith('parent ')).map((line) => line.slice('parent '.length)),
    author: person('author'),
    committer: person('committer'),
  }
}

/** The request of a git-receive-pack client, as in gitprotocol-pack: commands, a flush, then the pack. */
function parseRefUpdateCommands(body: Buffer): { commands: RefUpdateCommand[]; pack: Buffer } {
  const commands: RefUpdateCommand[] = []
  let at = 0
  for (;;) {
    const length = Number.parseInt(body.toString('latin1', at, at + 4), 16)
    if (length === 0) return { commands, pack: body.subarray(at + 4) }
    if (!Number.isInteger(length)) throw new Error('this is no push')
    const [line = ''] = body.toString('utf8', at + 4, at + length).split('\0')
    const [old = '', to = '', ref = ''] = line.trim().split(' ')
    commands.push({ old, new: to, ref })
    at += length
  }
}

function formatPushRejection(commands: readonly RefUpdateCommand[], why: string): Buffer {
  const packet = (content: Buffer): Buffer =>
    Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, '0')), content])
  const report = Buffer.concat([
    packet(Buffer.from('unpack ok\n')),
    ...commands.map(({ ref }) => packet(Buffer.from(`ng ${ref} ${why.replaceAll('\n', ' ')}\n`))),
    Buffer.from('0000'),
  ])
  return Buffer.concat([packet(Buffer.concat([Buffer.from([1]), report])), Buffer.from('0000')])
}
