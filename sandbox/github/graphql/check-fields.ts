// What GraphQL says of the check runs on a commit, and how an App makes one. The fields and their types are those of GitHub's
// public schema (https://docs.github.com/en/graphql/reference/checks).
import { createRun } from '../checks.ts'
import { resolveCommit } from '../git/git-store.ts'
import type { GitHubState } from '../github-state.ts'
import { demand } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { Refusal } from '../http/route.ts'
import { idOfNode, nodeId } from '../views/account-view.ts'
import { latestRuns, runView } from '../views/check-view.ts'
import type { CheckRun, Payload, Repo, World } from '../world.ts'
import type { Fields } from './answer-query.ts'
import { listFields } from './list-fields.ts'

export function checksFields(world: World, by: Caller, repo: Repo, sha: string): Fields {
  return {
    checkSuites: ({ filterBy, ...page }: Fields) => {
      demand(world, by, repo, { checks: 'read' })
      const { appId } = (filterBy ?? {}) as { readonly appId?: number }
      const suites = repo.suites.filter(
        (it) => it.sha === sha && (appId === undefined || it.app.id === appId),
      )
      return listFields(
        suites.map((suite) => ({
          id: nodeId('CheckSuite', suite.id),
          checkRuns: ({ filterBy: wanted, ...runsPage }: Fields) => {
            const { checkType = 'LATEST' } = (wanted ?? {}) as { readonly checkType?: string }
            const runs = checkType === 'ALL' ? suite.runs : latestRuns(suite.runs)
            return listFields(runs.map((run) => runFields(world, run)))(runsPage)
          },
        })),
      )(page)
    },
  }
}

function runFields(world: World, run: CheckRun): Fields {
  const { html_url: address } = runView(world, run)
  return {
    __typename: 'CheckRun',
    id: nodeId('CheckRun', run.id),
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

interface WantedRun {
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

/** `createCheckRun`: Apps alone. */
export async function createCheckRun(state: GitHubState, by: Caller, input: Fields): Promise<Fields> {
  const { world } = state
  const wanted = input as unknown as WantedRun
  const id = idOfNode('Repository', wanted.repositoryId)
  const repo = [...world.repos].find((it) => String(it.id) === id && !it.deleted)
  if (repo === undefined) throw new Refusal(404, 'Could not resolve to a Repository')
  demand(world, by, repo, { checks: 'write' })
  if (by.kind !== 'installation') throw new Refusal(403, 'Resource not accessible by personal access token')
  const sha = await resolveCommit(repo.path, wanted.headSha)
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${wanted.headSha}`)
  const run = await createRun(state, repo, by.installation.app, sha, bodyOf(wanted))
  return { checkRun: runFields(world, run) }
}

/** The same in REST's words. */
function bodyOf({ name, externalId, detailsUrl, status, conclusion, output }: WantedRun): Payload {
  return {
    name,
    ...(externalId !== undefined && { external_id: externalId }),
    ...(detailsUrl !== undefined && { details_url: detailsUrl }),
    ...(status !== undefined && { status: status.toLowerCase() }),
    ...(conclusion !== undefined && { conclusion: conclusion.toLowerCase() }),
    ...(output !== undefined && {
      output: {
        title: output.title,
        summary: output.summary,
        ...(output.text !== undefined && { text: output.text }),
        annotations: (output.annotations ?? []).map(({ location, annotationLevel, ...annotation }) => ({
          ...annotation,
          start_line: location.startLine,
          end_line: location.endLine,
          annotation_level: annotationLevel.toLowerCase(),
        })),
      },
    }),
  }
}
