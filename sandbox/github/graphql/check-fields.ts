// The check runs of a commit in GraphQL, and the mutation that creates one. Fields and types come from GitHub's public schema:
// https://docs.github.com/en/graphql/reference/checks
import { addCheckRun } from '../checks.ts'
import { resolveCommit } from '../git/git-store.ts'
import { requirePermissions } from '../http/auth.ts'
import type { ApiCaller } from '../http/caller.ts'
import { GitHubApiError } from '../http/route.ts'
import { parseNodeId, toNodeId } from '../views/account-view.ts'
import { findLatestCheckRuns, toCheckRunView } from '../views/check-view.ts'
import type { MockCheckRun, MockGitHubData, MockRepository } from '../github-data.ts'
import type { GraphqlFieldValues } from './execute-query.ts'
import { createConnectionFields } from './connection-fields.ts'

export function toCommitCheckFields(by: ApiCaller, repo: MockRepository, sha: string): GraphqlFieldValues {
  return {
    checkSuites: ({ filterBy, ...page }: GraphqlFieldValues) => {
      requirePermissions(by, repo, { checks: 'read' })
      const { appId } = (filterBy ?? {}) as { readonly appId?: number }
      const suites = repo.suites.filter(
        (it) => it.sha === sha && (appId === undefined || it.app.id === appId),
      )
      return createConnectionFields(
        suites.map((suite) => ({
          id: toNodeId('CheckSuite', suite.id),
          checkRuns: ({ filterBy: wanted, ...runsPage }: GraphqlFieldValues) => {
            const { checkType = 'LATEST' } = (wanted ?? {}) as { readonly checkType?: string }
            const runs = checkType === 'ALL' ? suite.runs : findLatestCheckRuns(suite.runs)
            return createConnectionFields(runs.map((run) => toCheckRunFields(run)))(runsPage)
          },
        })),
      )(page)
    },
  }
}

function toCheckRunFields(run: MockCheckRun): GraphqlFieldValues {
  const { html_url: address } = toCheckRunView(run)
  return {
    __typename: 'CheckRun',
    id: toNodeId('CheckRun', run.id),
    name: run.name,
    externalId: run.externalId,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
    title: run.title,
    summary: run.summary,
    detailsUrl: run.detailsUrl,
    permalink: address,
    url: address,
  }
}

interface CreateCheckRunInput {
  readonly repositoryId: string
  readonly headSha: string
  readonly name: string
  readonly externalId?: string
  readonly detailsUrl?: string
  readonly status?: string
  readonly conclusion?: string
  readonly output?: {
    readonly title: string
    readonly summary: string
    readonly text?: string
    readonly annotations?: readonly {
      readonly path: string
      readonly location: { readonly startLine: number; readonly endLine: number }
      readonly annotationLevel: string
      readonly message: string
      readonly title?: string
    }[]
  }
}

/** `createCheckRun`: only for Apps. */
export async function createCheckRun(
  state: MockGitHubData,
  by: ApiCaller,
  input: GraphqlFieldValues,
): Promise<GraphqlFieldValues> {
  const wanted = input as unknown as CreateCheckRunInput
  const id = parseNodeId('Repository', wanted.repositoryId)
  const repo = [...state.repos].find((it) => String(it.id) === id && !it.deleted)
  if (repo === undefined) throw new GitHubApiError(404, 'Could not resolve to a Repository')
  requirePermissions(by, repo, { checks: 'write' })
  if (by.kind !== 'installation')
    throw new GitHubApiError(403, 'Resource not accessible by personal access token')
  const sha = await resolveCommit(repo.path, wanted.headSha)
  if (sha === undefined) throw new GitHubApiError(422, `No commit found for SHA: ${wanted.headSha}`)
  const run = await addCheckRun(repo, by.installation.app, sha, toRestCheckRunBody(wanted))
  return { checkRun: toCheckRunFields(run) }
}

/** The same in REST's format. */
function toRestCheckRunBody({
  name,
  externalId,
  detailsUrl,
  status,
  conclusion,
  output,
}: CreateCheckRunInput) {
  return {
    name,
    external_id: externalId,
    details_url: detailsUrl,
    status: status?.toLowerCase(),
    conclusion: conclusion?.toLowerCase(),
    output: output && {
      ...output,
      annotations: output.annotations?.map(({ location, annotationLevel, ...annotation }) => ({
        ...annotation,
        start_line: location.startLine,
        end_line: location.endLine,
        annotation_level: annotationLevel.toLowerCase(),
      })),
    },
  }
}
