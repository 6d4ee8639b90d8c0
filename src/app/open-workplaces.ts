// Opens job contexts: one mirror per repository, opened on first use, and GitHub as the acting account.
import { resolve } from 'node:path'
import type { RepositoryName } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { openMirror, type Mirror } from '../git/mirror.ts'
import { openCommentMemory } from '../github/comment-memory.ts'
import { openForge } from '../github/forge.ts'
import type { GitHubApp } from '../github/github-app.ts'
import { openMerging } from '../github/merge-calls.ts'
import { openRepositoryMemory } from '../github/repository-memory.ts'
import type { Store } from '../ports/store.ts'
import { noTracing, traceCalls } from '../ports/tracing.ts'
import type { WorkClass } from '../github/budget/work-class.ts'
import type { App, JobContext } from './jobs/job-context.ts'

/** The App with its credentials, or the holder of one of its tokens. */
export type ActingClient = Pick<GitHubApp, 'appId' | 'login' | 'octokit' | 'gitToken'> &
  Partial<Pick<GitHubApp, 'permissionsOn'>>

export interface Workplaces {
  /** Rejects with a ForgeError or GitError if the repository is unreachable. */
  readonly open: (
    job: { readonly installation: number; readonly repository: RepositoryName },
    /** `look` if a person waits at a page or terminal. */
    work?: WorkClass,
    onSent?: () => void,
  ) => Promise<JobContext<Store>>
  /** Ends running git processes, and so the jobs that wait for them. */
  readonly close: () => Promise<void>
}

/** Traced calls: GitHub requests and slow git commands. Mirror reads are too many and too fast. */
const forgeCalls = [
  'readSnapshot',
  'openPulls',
  'branchRules',
  'present',
  'perform',
  'answer',
  'checksOn',
] as const
const mergingCalls = ['merge', 'enqueue', 'dequeue', 'sign', 'moveStaged'] as const
const repositoryCalls = [
  'fetch',
  'fetchTestMerge',
  'merge',
  'carried',
  'land',
  'landTogether',
  'stage',
  'unstage',
] as const

export function openWorkplaces(app: App<Store>, github: ActingClient): Workplaces {
  const { tracing = noTracing } = app
  const mirrors = new Map<string, Promise<Mirror>>()
  const acting = {
    ...github,
    comments: openCommentMemory(app.clock),
    repositories: openRepositoryMemory(app.clock),
    pause: (milliseconds: number) => app.clock.sleep(milliseconds),
    mostComments: app.settings.budget.comments,
  }

  const folderOf = ({ owner, name }: RepositoryName) =>
    resolve(app.settings.dataDirectory, 'mirrors', `${owner}.${name}.git`.toLowerCase())

  function mirrorOf(installation: number, repository: RepositoryName): Promise<Mirror> {
    const key = repositoryKey(repository)
    const known = mirrors.get(key)
    if (known !== undefined) return known
    const opened = openMirror({
      directory: folderOf(repository),
      mostPaths: app.settings.budget.paths,
      url: `${app.settings.gitUrl}/${repository.owner}/${repository.name}.git`,
      repository,
      credential: async () => ({
        username: 'x-access-token',
        password: await github.gitToken(installation, repository),
      }),
    })
    mirrors.set(key, opened)
    opened.catch(() => mirrors.delete(key))
    return opened
  }

  return {
    open: async (job, work, onSent) => {
      const octokit = await github.octokit(job.installation, work, onSent)
      return {
        app,
        installation: job.installation,
        forge: traceCalls(openForge(octokit, job.repository, acting), 'github', forgeCalls, tracing),
        merging: traceCalls(openMerging(octokit, job.repository), 'github', mergingCalls, tracing),
        repository: traceCalls(
          await mirrorOf(job.installation, job.repository),
          'git',
          repositoryCalls,
          tracing,
        ),
        mirror: folderOf(job.repository),
      }
    },
    close: async () => {
      for (const mirror of mirrors.values()) await mirror.then((open) => open.close()).catch(() => undefined)
    },
  }
}
