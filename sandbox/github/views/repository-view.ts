// Repositories, branches and refs as GitHub's REST answers and webhooks show them.
import type { GitHubPayload, MockRepository } from '../github-data.ts'
import { toAccountView, toNodeId } from './account-view.ts'

export const getRepositoryFullName = (repo: MockRepository): string => `${repo.owner.login}/${repo.name}`
export const getRepositoryApiUrl = (repo: MockRepository): string =>
  `${repo.github.base}/repos/${getRepositoryFullName(repo)}`
export const getRepositoryWebUrl = (repo: MockRepository): string =>
  `${repo.github.base}/${getRepositoryFullName(repo)}`

const repositoryUrlTemplates: readonly string[] = [
  'archive/{archive_format}{/ref}',
  'assignees{/user}',
  'git/blobs{/sha}',
  'branches{/branch}',
  'collaborators{/collaborator}',
  'comments{/number}',
  'commits{/sha}',
  'compare/{base}...{head}',
  'contents/{+path}',
  'contributors',
  'deployments',
  'downloads',
  'events',
  'forks',
  'git/commits{/sha}',
  'git/refs{/sha}',
  'git/tags{/sha}',
  'hooks',
  'issues/comments{/number}',
  'issues/events{/number}',
  'issues{/number}',
  'keys{/key_id}',
  'labels{/name}',
  'languages',
  'merges',
  'milestones{/number}',
  'notifications{?since,all,participating}',
  'pulls{/number}',
  'releases{/id}',
  'stargazers',
  'statuses/{sha}',
  'subscribers',
  'subscription',
  'tags',
  'teams',
  'git/trees{/sha}',
]

// The name of a URL field consists of the fixed parts of the path: `git/blobs{/sha}` is blobs_url, but `git/refs` is
// git_refs_url.
function formatRepositoryUrlFieldName(address: string): string {
  const templatePath = address.split('{')[0]?.replace(/\/$/, '') ?? ''
  const short = {
    'git/blobs': 'blobs',
    'git/trees': 'trees',
    'issues/comments': 'issue_comment',
    'issues/events': 'issue_events',
  }
  return `${short[templatePath as keyof typeof short] ?? templatePath.replace('/', '_')}_url`
}

const repositoryUrlFields = repositoryUrlTemplates.map(
  (address) => [formatRepositoryUrlFieldName(address), address] as const,
)

/** A repository. The additional fields of the long form do no harm in the short one, so there is only one form. */
export function toRepositoryView(repo: MockRepository): GitHubPayload {
  const { github } = repo
  const url = getRepositoryApiUrl(repo)
  const html = getRepositoryWebUrl(repo)
  const open = [...repo.pulls.values()].filter((it) => it.state === 'open').length
  const forks = [...github.repos].filter((it) => it.parent === repo && !it.deleted).length
  return {
    id: repo.id,
    node_id: toNodeId('Repository', repo.id),
    name: repo.name,
    full_name: getRepositoryFullName(repo),
    private: repo.private,
    visibility: repo.private ? 'private' : 'public',
    owner: toAccountView(repo.owner),
    html_url: html,
    description: null,
    fork: repo.parent !== null,
    url,
    ...Object.fromEntries(repositoryUrlFields.map(([field, address]) => [field, `${url}/${address}`])),
    created_at: repo.createdAt,
    updated_at: repo.pushedAt,
    pushed_at: repo.pushedAt,
    git_url: `${html.replace(/^http/, 'git')}.git`,
    ssh_url: `git@${new URL(github.base).host}:${getRepositoryFullName(repo)}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: repo.hasIssues,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: forks,
    mirror_url: null,
    archived: repo.archived,
    disabled: false,
    open_issues_count: open,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    forks,
    open_issues: open,
    watchers: 0,
    default_branch: repo.defaultBranch,
  }
}

/** The additional fields of `GET /repos/{owner}/{repo}`. */
export function toFullRepositoryView(repo: MockRepository, mayWrite = false): GitHubPayload {
  const { merge, squash, rebase } = repo.mergeMethods
  return {
    ...toRepositoryView(repo),
    // Users without write access cannot see the merge settings.
    ...(mayWrite
      ? {
          allow_merge_commit: merge,
          allow_squash_merge: squash,
          allow_rebase_merge: rebase,
          allow_auto_merge: false,
          delete_branch_on_merge: false,
        }
      : {}),
    network_count: 0,
    subscribers_count: 0,
    ...(repo.parent === null
      ? {}
      : { parent: toRepositoryView(repo.parent), source: toRepositoryView(repo.parent) }),
  }
}

export function toRefView(repo: MockRepository, ref: string, sha: string): GitHubPayload {
  const url = getRepositoryApiUrl(repo)
  return {
    ref,
    node_id: toNodeId('Ref', `${repo.id}:${ref}`),
    url: `${url}/git/${ref}`,
    object: { sha, type: 'commit', url: `${url}/git/commits/${sha}` },
  }
}
