// A pull request of two local commits, for `check`, `explain`, and `diff`. Results go to a temporary folder.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createCatalogLoader, type CatalogLoader } from '../catalogs/catalog-loader.ts'
import { evaluatePullSnapshot, type SnapshotEvaluation } from '../evaluate/evaluate.ts'
import type { LookupResolver } from '../catalogs/gather-lookup-results.ts'
import type { RegistryLookupResolver } from '../catalogs/registries.ts'
import { createContentAddressedCache, getCacheDirectory } from '../catalogs/parsed-file-cache.ts'
import { createInMemoryCache, noopPullHistoryStore } from '../catalogs/memory-cache.ts'
import { createCatalogFileReaderPool } from '../catalogs/reader-pool.ts'
import { systemClock } from '../adapters/system-clock.ts'
import { toCommitSha, toPullNumber, toUserId, type CommitSha } from '../pull-request/ids.ts'
import type { GitHubAccount, PullSnapshot } from '../pull-request/snapshot.ts'
import { isRegistryLookup, type LookupRequest, type RepositoryRoleLookupResult } from '../checks/lookups.ts'
import { openGitMirror } from '../adapters/git/mirror.ts'
import type { GitRepository } from '../ports/repository.ts'
import {
  readDefaultAuthorLogin,
  findDefaultBaseBranch,
  requireGitRepository,
  runGit,
} from './pull-defaults.ts'
import { defaultBundlePullLimits } from '../adapters/registry/cached-bundles.ts'
import { printToStderr } from './output.ts'

export interface LocalPullRequestOptions {
  readonly repo: string
  readonly base?: string | undefined
  /** Name of the base branch, if `base` is a commit. */
  readonly baseName?: string | undefined
  readonly head: string
  /** `login` or `login:id`. Without an ID, one is derived from the login. Default: the current user. */
  readonly author?: string | undefined
  readonly approvedBy?: readonly string[] | undefined
  readonly role?: GitHubRepositoryRole | undefined
  readonly insecureRegistry?: readonly string[] | undefined
  readonly offline?: boolean | undefined
}

/** Rejects with an Error whose message names what is unreadable. */
export function evaluateLocalPullRequest(options: LocalPullRequestOptions): Promise<SnapshotEvaluation> {
  return runWithLocalPullRequestEvaluation(options, (examination) => Promise.resolve(examination))
}

/** Like `evaluateLocalPullRequest`, but with access to the merge result, whose objects exist until `use` has finished. */
export async function runWithLocalPullRequestEvaluation<T>(
  options: LocalPullRequestOptions,
  use: (examination: SnapshotEvaluation, repository: GitRepository, loader: CatalogLoader) => Promise<T>,
): Promise<T> {
  const directory = resolve(options.repo)
  await requireGitRepository(directory)
  const named = options.base
  const branch =
    named === undefined
      ? await findDefaultBaseBranch(directory)
      : { revision: named, name: options.baseName ?? named }
  const author = parseGitHubAccount(options.author ?? (await resolveAuthorLogin(directory)))
  const [base, head] = await Promise.all([
    resolveCommitSha(directory, branch.revision),
    resolveCommitSha(directory, options.head),
  ])
  const borrowed = await createTemporaryRepository(directory)
  const pool = createCatalogFileReaderPool()
  const registries =
    options.offline === true
      ? undefined
      : await (
          await import('../catalogs/registries.ts')
        ).createRegistryLookupService({
          clock: systemClock,
          // Questions are asked in two rounds. The cache keeps the second round from contacting registries again.
          store: createInMemoryCache(systemClock),
          environment: process.env,
          insecure: options.insecureRegistry ?? [],
          // No time limits, because this is the only evaluation and the user waits for the complete result.
          bundles: { ...defaultBundlePullLimits, pulls: Infinity, time: Infinity },
          evaluationTimeoutMs: Infinity,
          showsAll: true,
        })
  try {
    const { approvedBy } = options
    const { repository } = borrowed
    const loader = createCatalogLoader(pool, createContentAddressedCache(join(getCacheDirectory(), 'blobs')))
    const examination = await evaluatePullSnapshot(
      createLocalPullRequestSnapshot(author, base, head, { base: branch.name, approvedBy }),
      {
        repository,
        loader,
        ask: createLocalLookupResolver(author, options.role ?? 'read', registries?.forEvaluation()),
        memory: noopPullHistoryStore,
      },
    )
    return await use(examination, repository, loader)
  } finally {
    await Promise.all([borrowed.close(), pool.close(), registries?.close()])
  }
}

/** For messages. No GitHub login contains a space, so no owner file names this author. */
const unknownAuthorLogin = 'the author'

async function resolveAuthorLogin(directory: string): Promise<string> {
  const login = await readDefaultAuthorLogin(directory)
  if (login === undefined)
    printToStderr(
      'The author of the pull request is unknown, so catalog-bot assumes an author who owns no package. Use --author LOGIN, or set a default with "git config --global github.user LOGIN".',
    )
  return login ?? unknownAuthorLogin
}

/**
 * A repository for results, in a folder that `close` removes. It reads the objects of `directory`, but does not write
 * there.
 */
export async function createTemporaryRepository(
  directory: string,
): Promise<{ readonly repository: GitRepository; close(): Promise<void> }> {
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-'))
  const repository = await openGitMirror({
    directory: join(scratch, 'result.git'),
    url: `file://${directory}`,
    credential: () => Promise.resolve(undefined),
  })
  const close = async () => {
    await repository.close()
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    await addGitAlternates(directory, join(scratch, 'result.git'))
    return { repository, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Answers questions without GitHub: every user except the author has the role `read`, and other answers are unknown. */
export function createLocalLookupResolver(
  author: GitHubAccount,
  role: GitHubRepositoryRole,
  askRegistries?: RegistryLookupResolver,
): LookupResolver {
  const unknownSubjects: Readonly<Partial<Record<LookupRequest['kind'], string>>> = {
    comment: 'comments',
    branch: 'branches',
    'check-run': 'the checks of other Apps',
    'team-member': 'team members',
  }
  const unknownOnGitHub = (reason: string) => ({ kind: 'unknown' as const, reason, retryAfter: 0 })
  return async (question) => {
    if (isRegistryLookup(question))
      return askRegistries?.(question) ?? unknownOnGitHub('the command is running offline')
    if (question.kind === 'user') return { kind: 'person', person: parseGitHubAccount(question.login) }
    if (question.kind === 'role') return { kind: 'role', role: question.user === author.id ? role : 'read' }
    const subject = unknownSubjects[question.kind] ?? question.kind
    return unknownOnGitHub(`a local run cannot read ${subject} from GitHub`)
  }
}

export function createLocalPullRequestSnapshot(
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
      author: parseGitHubAccount(login),
      state: 'approved',
      commit: head,
      submittedAt: '',
    })),
    comments: [],
    stacked: false,
  }
}

async function resolveCommitSha(directory: string, revision: string): Promise<CommitSha> {
  const options = ['--verify', '--quiet', '--end-of-options']
  const commit = await runGit(directory, 'rev-parse', ...options, `${revision}^{commit}`)
  if (commit === undefined)
    throw new Error(`${revision} is not a commit in the Git repository at ${directory}`)
  return toCommitSha(commit)
}

async function addGitAlternates(from: string, into: string): Promise<void> {
  const paths = ['rev-parse', '--git-path', 'objects', '--git-path', 'shallow']
  const found = await runGit(from, ...paths)
  if (found === undefined) throw new Error(`${from} is not a Git repository`)
  const [objects = '', shallow = ''] = found.split('\n')
  const directory = join(into, 'objects', 'info')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'alternates'), `${resolve(from, objects)}\n`)
  // A shallow clone records where its history ends. Without that record, Git looks for commits that were never fetched.
  const ends = resolve(from, shallow)
  if (existsSync(ends)) await copyFile(ends, join(into, 'shallow'))
}

export function parseGitHubAccount(text: string): GitHubAccount {
  const [login = '', id] = text.split(':')
  if (login === '' || (id !== undefined && !/^\d+$/.test(id)))
    throw new Error(`"${text}" is not in the form LOGIN or LOGIN:ID`)
  // Without GitHub, the ID is derived from the login, so that two users are the same exactly if their logins are equal.
  const made = createHash('sha256').update(login.toLowerCase()).digest().readUIntBE(0, 6) + 1
  return {
    id: toUserId(id === undefined ? made : Number(id)),
    login,
    kind: login.endsWith('[bot]') ? 'bot' : 'user',
  }
}

export type GitHubRepositoryRole = Extract<RepositoryRoleLookupResult, { kind: 'role' }>['role']
