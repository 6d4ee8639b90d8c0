// A pull request that exists only as two commits of a local repository: what `check`, `explain` and `diff` look at.
// Nothing is written into the repository: merge results go to a temporary folder that borrows its objects.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { catalogLoader } from '../examine/catalogs/catalog-loader.ts'
import { examine, type Examination } from '../examine/examine.ts'
import type { Ask } from '../examine/gather-answers.ts'
import { openRegistries, type AskRegistries } from '../examine/registries.ts'
import { forgetfulCache, forgetfulMemory } from '../examine/forgetful.ts'
import { openMemoryCache } from '../examine/memory-cache.ts'
import { openReaderPool } from '../examine/catalogs/reader-pool.ts'
import { systemClock } from '../examine/system-clock.ts'
import { commitSha, pullNumber, userId, type CommitSha } from '../change/ids.ts'
import type { Person, Snapshot } from '../change/snapshot.ts'
import type { RoleAnswer } from '../checks/questions.ts'
import { openMirror } from '../git/mirror.ts'
import type { Repository } from '../ports/repository.ts'
import { defaultAuthor, defaultBase, mustBeRepository } from './pull-defaults.ts'
import { defaultBundleBudget } from '../registry/cached-bundles.ts'
import { saySystemError } from './system-error.ts'

const run = promisify(execFile)

export interface LocalPullOptions {
  readonly repo: string
  readonly base?: string | undefined
  /** What the base branch is called, where `base` is a commit. */
  readonly baseName?: string | undefined
  readonly head: string
  /** `login` or `login:id`; without an id one is made from the login. Whoever is at the keyboard where nobody is named. */
  readonly author?: string | undefined
  readonly approvedBy?: readonly string[] | undefined
  readonly role?: string | undefined
  readonly insecureRegistry?: readonly string[] | undefined
  readonly offline?: boolean | undefined
}

/** Rejects with an Error whose message says what is unreadable. */
export function examineLocally(options: LocalPullOptions): Promise<Examination> {
  return withExamination(options, (examination) => Promise.resolve(examination))
}

/** The same, for who looks further into the merge result: its objects are gone once `use` has ended. */
export async function withExamination<T>(
  options: LocalPullOptions,
  use: (examination: Examination, repository: Repository) => Promise<T>,
): Promise<T> {
  const directory = resolve(options.repo)
  await mustBeRepository(directory)
  const named = options.base
  const branch =
    named === undefined ? await defaultBase(directory) : { revision: named, name: options.baseName ?? named }
  const author = parsePerson(options.author ?? (await defaultAuthor(directory)))
  const base = await resolveCommit(directory, branch.revision)
  const head = await resolveCommit(directory, options.head)
  const borrowed = await openBorrowed(directory)
  const pool = openReaderPool()
  const registries =
    options.offline === true
      ? undefined
      : await openRegistries({
          clock: systemClock,
          // The questions are asked in two rounds; the second one does not ask registries again.
          store: openMemoryCache(systemClock),
          environment: process.env,
          insecure: options.insecureRegistry ?? [],
          // There is one look only, and who waits for it has asked for all of it.
          bundles: { ...defaultBundleBudget, pulls: Infinity, time: Infinity },
          lookTime: Infinity,
          showsAll: true,
        })
  try {
    const { approvedBy } = options
    const { repository } = borrowed
    const examination = await examine(localSnapshot(author, base, head, { base: branch.name, approvedBy }), {
      repository,
      loader: catalogLoader(pool, forgetfulCache),
      ask: askWithoutGitHub(author, roleOf(options.role), registries?.forOneLook()),
      memory: forgetfulMemory,
    })
    return await use(examination, repository)
  } finally {
    await Promise.all([borrowed.close(), pool.close(), registries?.close()])
  }
}

/** A repository for results that reads the objects of another one, in a folder that `close` removes: nothing is written there. */
export async function openBorrowed(
  directory: string,
): Promise<{ readonly repository: Repository; close(): Promise<void> }> {
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-'))
  const repository = await openMirror({
    directory: join(scratch, 'result.git'),
    url: `file://${directory}`,
    credential: () => Promise.resolve(undefined),
  })
  const close = async () => {
    await repository.close()
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    await borrowObjects(directory, join(scratch, 'result.git'))
    return { repository, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Answers where there is no GitHub to ask: everybody but the author may read, and what only GitHub knows is unknown. */
export function askWithoutGitHub(author: Person, role: Role, askRegistries?: AskRegistries): Ask {
  const onGitHub = (what: string) => ({ kind: 'unknown' as const, reason: what, retryAfter: 0 })
  return async (question) => {
    switch (question.kind) {
      case 'image':
      case 'bundle':
      case 'install':
        return askRegistries?.(question) ?? onGitHub('the command runs offline')
      case 'user':
        return {
          kind: 'person',
          person: samePerson(question.login, author.login) ? author : parsePerson(question.login),
        }
      case 'comment':
        return onGitHub('comments are known to GitHub only')
      case 'branch':
        return onGitHub('branches are known to GitHub only')
      case 'check-run':
        return onGitHub('checks of other Apps are known to GitHub only')
      case 'team-member':
        return onGitHub('only GitHub knows the members of teams')
      case 'role':
        return { kind: 'role', role: question.user === author.id ? role : 'read' }
    }
  }
}

export function localSnapshot(
  author: Person,
  base: CommitSha,
  head: CommitSha,
  options: { readonly base: string; readonly approvedBy?: readonly string[] | undefined },
): Snapshot {
  return {
    repository: { owner: 'local', name: 'repository' },
    pull: pullNumber(1),
    state: 'open',
    draft: false,
    title: '',
    author,
    head,
    baseRef: options.base,
    base,
    headRepository: null,
    labels: [],
    reviews: (options.approvedBy ?? []).map((login, index) => ({
      id: index + 1,
      author: parsePerson(login),
      state: 'approved',
      commit: head,
      submittedAt: '',
    })),
    comments: [],
    stacked: false,
  }
}

async function resolveCommit(directory: string, revision: string): Promise<CommitSha> {
  try {
    const { stdout } = await run('git', [
      '-C',
      directory,
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${revision}^{commit}`,
    ])
    return commitSha(stdout.trim())
  } catch (cause) {
    if (saySystemError(cause) !== undefined) throw cause
    throw new Error(`${revision} is not a commit of the git repository at ${directory}`, { cause })
  }
}

async function borrowObjects(from: string, into: string): Promise<void> {
  const { stdout } = await run('git', ['-C', from, 'rev-parse', '--git-path', 'objects'])
  const directory = join(into, 'objects', 'info')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'alternates'), `${resolve(from, stdout.trim())}\n`)
  // Where the history of a clone ends: without that git looks for commits that were never fetched.
  const { stdout: shallow } = await run('git', ['-C', from, 'rev-parse', '--git-path', 'shallow'])
  const ends = resolve(from, shallow.trim())
  if (existsSync(ends)) await copyFile(ends, join(into, 'shallow'))
}

export function parsePerson(text: string): Person {
  const [login = '', id] = text.split(':')
  if (login === '' || (id !== undefined && !/^\d+$/.test(id)))
    throw new Error(`"${text}" is not a login or login:id`)
  // Without GitHub an id stands for the login it is made from: equal logins are equal people, and no others.
  const made = createHash('sha256').update(login.toLowerCase()).digest().readUIntBE(0, 6) + 1
  return {
    id: userId(id === undefined ? made : Number(id)),
    login,
    kind: login.endsWith('[bot]') ? 'bot' : 'user',
  }
}

function samePerson(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

export type Role = Extract<RoleAnswer, { kind: 'role' }>['role']
const roles: readonly Role[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']

function roleOf(text = 'read'): Role {
  const role = roles.find((name) => name === text)
  if (role === undefined) throw new Error(`"${text}" is not a role; use one of: ${roles.join(', ')}`)
  return role
}
