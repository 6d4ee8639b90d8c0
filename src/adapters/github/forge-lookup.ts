// Answers questions about users with yes, no, or, in case of doubt, unknown (T27).
import { z } from 'zod'
import {
  toLookupKey,
  type ForgeLookupRequest,
  type LookupResultByKind,
  type RepositoryRoleLookupResult,
} from '../../checks/lookups.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { callGitHub, catchNotFound, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import { toGitHubAccountOrNull } from './read-comments.ts'

type ForgeLookupResult = LookupResultByKind[ForgeLookupRequest['kind']]

export async function resolveForgeLookup(
  octokit: Octokit,
  repository: RepositoryName,
  question: ForgeLookupRequest,
): Promise<ForgeLookupResult> {
  try {
    switch (question.kind) {
      case 'user':
        return await fetchUserAccount(octokit, question.login)
      case 'team-member':
        return await fetchTeamMembership(octokit, question)
      case 'role':
        return await fetchRepositoryRole(octokit, repository, question)
      case 'comment':
        return await fetchCommentEditStatus(octokit, question)
      case 'branch':
        return await fetchBranchExistence(octokit, repository, question.branch)
      case 'check-run':
        return await fetchCheckRunStatus(octokit, repository, question)
    }
  } catch (error) {
    const failure = toForgeError(error, `look up ${toLookupKey(question)}`)
    return { kind: 'unknown', reason: failure.message, retryAfter: failure.retryAfter }
  }
}

/** REST names no editor and gives times in whole seconds; GraphQL names each edit. */
const commentEditsQuery = `query EditsOfComment($id: ID!) {
  node(id: $id) {
    __typename
    ... on IssueComment { lastEditedAt includesCreatedEdit editor { login } }
  }
}`

const commentEditsSchema = z.object({
  node: z.object({
    __typename: z.literal('IssueComment'),
    lastEditedAt: z.string().nullable(),
    includesCreatedEdit: z.boolean(),
    editor: z.object({ login: z.string() }).nullable(),
  }),
})

async function fetchCommentEditStatus(
  octokit: Octokit,
  { comment, node }: Extract<ForgeLookupRequest, { kind: 'comment' }>,
): Promise<LookupResultByKind['comment']> {
  const answer =
    node === undefined
      ? undefined
      : commentEditsSchema.safeParse(await octokit.graphql<unknown>(commentEditsQuery, { id: node })).data
  if (answer === undefined)
    return {
      kind: 'unknown',
      reason: `GitHub did not report whether comment ${comment} was edited`,
      retryAfter: 60,
    }
  const { lastEditedAt, includesCreatedEdit, editor } = answer.node
  return lastEditedAt === null && !includesCreatedEdit && editor === null
    ? { kind: 'unedited' }
    : { kind: 'edited' }
}

/** Reads the ref itself, because the branches API follows renames. */
async function fetchBranchExistence(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  branch: string,
): Promise<LookupResultByKind['branch']> {
  const found = await catchNotFound(octokit.rest.git.getRef({ owner, repo: name, ref: `heads/${branch}` }))
  return { kind: found ? 'yes' : 'no' }
}

async function fetchUserAccount(octokit: Octokit, login: string): Promise<LookupResultByKind['user']> {
  const found = await catchNotFound(octokit.rest.users.getByUsername({ username: login }))
  const person = found ? toGitHubAccountOrNull(found.data) : null
  return person === null ? { kind: 'nobody' } : { kind: 'person', person }
}

const createReassignedLoginResult = (login: string) => ({
  kind: 'unknown' as const,
  reason: `the login ${login} now belongs to a different account`,
  retryAfter: 300,
})

async function fetchTeamMembership(
  octokit: Octokit,
  { organization, team, user, login }: Extract<ForgeLookupRequest, { kind: 'team-member' }>,
): Promise<LookupResultByKind['team-member']> {
  const account = await fetchUserAccount(octokit, login)
  if (account.kind !== 'person' || account.person.id !== user) return createReassignedLoginResult(login)
  const membership = { org: organization, team_slug: team, username: login }
  const found = await catchNotFound(octokit.rest.teams.getMembershipForUserInOrg(membership))
  if (found) return { kind: found.data.state === 'active' ? 'yes' : 'no' }
  // A 404 can also mean "not allowed to know". It is a no only for a team that we can see.
  await octokit.rest.teams.getByName({ org: organization, team_slug: team })
  return { kind: 'no' }
}

/** Conclusions that satisfy GitHub's required checks. */
const passingConclusions = new Set(['success', 'neutral', 'skipped'])

/** The latest run of each suite must be green. Anyone can use a check's name, so the App is compared, too. */
async function fetchCheckRunStatus(
  octokit: Octokit,
  repository: RepositoryName,
  { commit, app, name }: Extract<ForgeLookupRequest, { kind: 'check-run' }>,
): Promise<LookupResultByKind['check-run']> {
  const listed = await octokit.paginate(octokit.rest.checks.listForRef, {
    owner: repository.owner,
    repo: repository.name,
    ref: commit,
    app_id: app,
    check_name: name,
    filter: 'latest',
    per_page: 100,
  })
  const runs = listed.filter((run) => run.app?.id === app && run.name === name && run.head_sha === commit)
  if (runs.length === 0) return { kind: 'missing' }
  const failed = runs.find(
    ({ status, conclusion }) => status === 'completed' && !passingConclusions.has(conclusion ?? ''),
  )
  if (failed !== undefined) return { kind: 'red', conclusion: failed.conclusion ?? 'without a conclusion' }
  return runs.every(({ status }) => status === 'completed') ? { kind: 'green' } : { kind: 'running' }
}

const repositoryRoles = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const

async function fetchRepositoryRole(
  octokit: Octokit,
  repository: RepositoryName,
  { user, login }: Extract<ForgeLookupRequest, { kind: 'role' }>,
): Promise<RepositoryRoleLookupResult> {
  const target = { owner: repository.owner, repo: repository.name }
  const { data } = await octokit.rest.repos.getCollaboratorPermissionLevel({ ...target, username: login })
  if (data.user?.id !== user) return createReassignedLoginResult(login)
  // `permission` folds maintain into write and triage into read; role_name does not, but may name a custom role.
  const role =
    repositoryRoles.find((name) => name === data.role_name) ??
    repositoryRoles.find((name) => name === data.permission)
  return role === undefined
    ? { kind: 'unknown', reason: `GitHub returned an unknown role: ${data.role_name}`, retryAfter: 3600 }
    : { kind: 'role', role }
}

/** Undefined: the file doesn't exist. Rejects with a ForgeError. */
export async function readRepositoryFile(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  path: string,
  ref: string,
): Promise<Uint8Array | undefined> {
  const data = await callGitHub(`read ${path} of ${owner}/${name}`, async () => {
    return (await catchNotFound(octokit.rest.repos.getContent({ owner, repo: name, path, ref })))?.data
  })
  if (data === undefined || Array.isArray(data) || data.type !== 'file') return undefined
  return Buffer.from(data.content, 'base64')
}
