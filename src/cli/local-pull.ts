// A pull request that exists only as two commits of a local repository: what `check`, `explain` and `diff` look at.
// Nothing is written into the repository: merge results go to a temporary folder that borrows its objects.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createCatalogLoader } from '../evaluate/catalogs/catalog-loader.ts'
import { evaluateSnapshot, type Evaluation } from '../evaluate/evaluate.ts'
import type { AnswerQuestion } from '../evaluate/gather-answers.ts'
import { openRegistries, type AnswerImageQuestion } from '../evaluate/registries.ts'
import { noopCache, noopPullMemory } from '../evaluate/null-store.ts'
import { openMemoryCache } from '../evaluate/memory-cache.ts'
import { openReaderPool } from '../evaluate/catalogs/reader-pool.ts'
import { systemClock } from '../evaluate/system-clock.ts'
import { toCommitSha, toPullNumber, toUserId, type CommitSha } from '../change/ids.ts'
import type { GitHubAccount, PullSnapshot } from '../change/snapshot.ts'
import type { RoleAnswer } from '../checks/questions.ts'
import { openMirror } from '../git/mirror.ts'
import type { GitRepository } from '../ports/repository.ts'
import { findDefaultAuthor, findDefaultBase, requireRepository } from './pull-defaults.ts'
import { defaultBundlePullBudget } from '../registry/cached-bundles.ts'
import { formatSystemError } from './system-error.ts'

const execFileAsync = promisify(execFile)

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
export function evaluateLocalPull(options: LocalPullOptions): Promise<Evaluation> {
  return withLocalEvaluation(options, (examination) => Promise.resolve(examination))
}

/** The same, for who looks further into the merge result: its objects are gone once `use` has ended. */
export async function withLocalEvaluation<T>(
  options: LocalPullOptions,
  use: (examination: Evaluation, repository: GitRepository) => Promise<T>,
): Promise<T> {
  const directory = resolve(options.repo)
  await requireRepository(directory)
  const named = options.base
  const branch =
    named === undefined
      ? await findDefaultBase(directory)
      : { revision: named, name: options.baseName ?? named }
  const author = parsePerson(options.author ?? (await findDefaultAuthor(directory)))
  const base = await resolveCommit(directory, branch.revision)
  const head = await resolveCommit(directory, options.head)
  const borrowed = await openScratchRepository(directory)
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
          bundles: { ...defaultBundlePullBudget, pulls: Infinity, time: Infinity },
          lookTime: Infinity,
          showsAll: true,
        })
  try {
    const { approvedBy } = options
    const { repository } = borrowed
    const examination = await evaluateSnapshot(
      createLocalSnapshot(author, base, head, { base: branch.name, approvedBy }),
      {
        repository,
        loader: createCatalogLoader(pool, noopCache),
        ask: answerWithoutGitHub(author, parseRole(options.role), registries?.forEvaluation()),
        memory: noopPullMemory,
      },
    )
    return await use(examination, repository)
  } finally {
    await Promise.all([borrowed.close(), pool.close(), registries?.close()])
  }
}

/** A repository for results that reads the objects of another one, in a folder that `close` removes: nothing is written there. */
export async function openScratchRepository(
  directory: string,
): Promise<{ readonly repository: GitRepository; close(): Promise<void> }> {
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
    await linkAlternateObjects(directory, join(scratch, 'result.git'))
    return { repository, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Answers where there is no GitHub to ask: everybody but the author may read, and what only GitHub knows is unknown. */
export function answerWithoutGitHub(
  author: GitHubAccount,
  role: RepositoryRole,
  askRegistries?: AnswerImageQuestion,
): AnswerQuestion {
  const unknownOnGitHub = (subject: string) => ({ kind: 'unknown' as const, reason: subject, retryAfter: 0 })
  return async (question) => {
    switch (question.kind) {
      case 'image':
      case 'bundle':
      case 'install':
        return askRegistries?.(question) ?? unknownOnGitHub('the command runs offline')
      case 'user':
        return {
          kind: 'person',
          person: isSamePerson(question.login, author.login) ? author : parsePerson(question.login),
        }
      case 'comment':
        return unknownOnGitHub('comments are known to GitHub only')
      case 'branch':
        return unknownOnGitHub('branches are known to GitHub only')
      case 'check-run':
        return unknownOnGitHub('checks of other Apps are known to GitHub only')
      case 'team-member':
        return unknownOnGitHub('only GitHub knows the members of teams')
      case 'role':
        return { kind: 'role', role: question.user === author.id ? role : 'read' }
    }
  }
}

export function createLocalSnapshot(
  author: GitHubAccount,
  base: CommitSha,
  head: CommitSha,
  options: { readonly base: string; readonly approvedBy?: readonly string[] | undefined },
): PullSnapshot {
  return {
    repository: { owner: 'local', name: 'repository' },
    pull: toPullNumber(1),
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
    const { stdout } = await execFileAsync('git', [
      '-C',
      directory,
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${revision}^{commit}`,
    ])
    return toCommitSha(stdout.trim())
  } catch (cause) {
    if (formatSystemError(cause) !== undefined) throw cause
    throw new Error(`${revision} is not a commit of the git repository at ${directory}`, { cause })
  }
}

async function linkAlternateObjects(from: string, into: string): Promise<void> {
  const { stdout } = await execFileAsync('git', ['-C', from, 'rev-parse', '--git-path', 'objects'])
  const directory = join(into, 'objects', 'info')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'alternates'), `${resolve(from, stdout.trim())}\n`)
  // Where the history of a clone ends: without that git looks for commits that were never fetched.
  const { stdout: shallow } = await execFileAsync('git', ['-C', from, 'rev-parse', '--git-path', 'shallow'])
  const ends = resolve(from, shallow.trim())
  if (existsSync(ends)) await copyFile(ends, join(into, 'shallow'))
}

export function parsePerson(text: string): GitHubAccount {
  const [login = '', id] = text.split(':')
  if (login === '' || (id !== undefined && !/^\d+$/.test(id)))
    throw new Error(`"${text}" is not a login or login:id`)
  // Without GitHub an id stands for the login it is made from: equal logins are equal people, and no others.
  const made = createHash('sha256').update(login.toLowerCase()).digest().readUIntBE(0, 6) + 1
  return {
    id: toUserId(id === undefined ? made : Number(id)),
    login,
    kind: login.endsWith('[bot]') ? 'bot' : 'user',
  }
}

function isSamePerson(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

export type RepositoryRole = Extract<RoleAnswer, { kind: 'role' }>['role']
const repositoryRoles: readonly RepositoryRole[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin']

function parseRole(text = 'read'): RepositoryRole {
  const role = repositoryRoles.find((name) => name === text)
  if (role === undefined)
    throw new Error(`"${text}" is not a role; use one of: ${repositoryRoles.join(', ')}`)
  return role
}
