// Finds and writes the App's issues. Issues by other authors never count as the App's, regardless of their text.
import type { ForgeAction, BotIssue } from '../../ports/forge.ts'
import type { CommentCache, RepositoryCache } from './github-cache.ts'
import { catchNotFound } from './forge-error.ts'
import type { GitHubApp, Octokit } from './github-app.ts'

export interface RepositoryParams {
  readonly owner: string
  readonly repo: string
}

/** The App's id and login (`catalog-bot[bot]`). */
export type BotGitHubAppContext = Pick<GitHubApp, 'appId' | 'login'> & {
  readonly permissionsOn?: GitHubApp['permissionsOn']
  /** Absent: comments aren't cached. */
  readonly commentCache?: CommentCache
  /** Absent: cached only within the job. */
  readonly repositoryCache?: RepositoryCache
  /** The maximum number of comments or reviews to read of one pull request. */
  readonly maxComments?: number
  /** Milliseconds on a monotonic clock. Absent: the process's own. */
  readonly monotonic?: () => number
  /** Waits this many milliseconds. Absent: failures aren't retried in place. */
  readonly pause?: (milliseconds: number) => Promise<void>
}

/** The fields that show whether an issue belongs to the App. */
interface BotIssueIdentityFields {
  readonly number: number
  readonly state: string
  readonly title: string
  readonly body?: string | null | undefined
  readonly repository_url: string
  readonly pull_request?: unknown
  readonly performed_via_github_app?: { readonly id?: number } | null | undefined
}

/** See Forge.findOwnIssue. Rejects with Octokit's errors. */
export async function findBotIssue(
  octokit: Octokit,
  target: RepositoryParams,
  { appId, login }: BotGitHubAppContext,
  marker: string,
  number: number | undefined,
): Promise<BotIssue | undefined> {
  const home = `/repos/${target.owner}/${target.repo}`.toLowerCase()
  const isOwn = (issue: BotIssueIdentityFields) =>
    issue.performed_via_github_app?.id === appId &&
    issue.pull_request === undefined &&
    issue.body?.startsWith(marker) === true &&
    // GitHub answers for moved issues from their new repository.
    issue.repository_url.toLowerCase().endsWith(home)

  if (number !== undefined) {
    // If it was deleted, an older issue may exist.
    const known = await catchNotFound(octokit.rest.issues.get({ ...target, issue_number: number }))
    if (known && isOwn(known.data)) return toBotIssue(known.data)
  }
  const written = await octokit.paginate(octokit.rest.issues.listForRepo, {
    ...target,
    creator: await login(),
    state: 'all',
    per_page: 100,
  })
  const own = written.filter(isOwn)
  const found = own.find(({ state }) => state === 'open') ?? own[0]
  return found && toBotIssue(found)
}

type IssueAction = Extract<ForgeAction, { kind: 'open-issue' | 'edit-issue' | 'say-on-issue' }>

/** Returns a new issue's number. Rejects with Octokit's errors. */
export async function performIssueAction(
  octokit: Octokit,
  target: RepositoryParams,
  appId: number,
  action: IssueAction,
): Promise<{ issue?: number }> {
  switch (action.kind) {
    case 'open-issue': {
      const { title, body } = action
      return { issue: (await octokit.rest.issues.create({ ...target, title, body })).data.number }
    }
    case 'edit-issue': {
      const { issue, title, body, state } = action
      await octokit.rest.issues.update({
        ...target,
        issue_number: issue,
        title,
        body,
        ...(state !== undefined && { state }),
        ...(state === 'closed' && { state_reason: 'completed' }),
      })
      return {}
    }
    case 'say-on-issue': {
      const { issue: issue_number, marker, body } = action
      const comments = await octokit.paginate(octokit.rest.issues.listComments, {
        ...target,
        issue_number,
        per_page: 100,
      })
      const isAlreadyPosted = comments.some(
        (comment) => comment.performed_via_github_app?.id === appId && comment.body?.startsWith(marker),
      )
      if (!isAlreadyPosted)
        await octokit.rest.issues.createComment({ ...target, issue_number, body: `${marker}\n${body}` })
      return {}
    }
  }
}

const toBotIssue = ({ number, state, title, body }: BotIssueIdentityFields): BotIssue => ({
  number,
  state: state === 'open' ? 'open' : 'closed',
  title,
  body: body ?? '',
})
