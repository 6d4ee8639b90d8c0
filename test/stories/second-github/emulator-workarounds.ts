// What emulate 0.12.2 lacks compared to GitHub, as far as the story needs it. Each gap has a name, a sentence, a probe
// that shows that emulate still has it, and a replacement. `emulator-workarounds.test.ts` fails when emulate has closed a gap; the
// story fails when a gap is no longer needed.
import { randomUUID } from 'node:crypto'
import type { AuthenticatedRequestSender, GitBackend } from './served-git.ts'

export interface EmulatorRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly token: string
  readonly body: unknown
}

export interface EmulatorResponse {
  readonly status: number
  readonly data: unknown
}

export interface EmulatorWebhookDelivery {
  readonly event: string
  readonly id: string
  readonly payload: Record<string, unknown>
}

/** What a replacement may use. */
export interface EmulatorWorkaroundContext {
  readonly organization: string
  readonly administratorToken: string
  readonly appId: number
  readonly git: GitBackend
  readonly ask: AuthenticatedRequestSender
  note(name: string): void
}

/** A separate emulate, without replacements, in which a gap is probed. */
export interface UnpatchedEmulatorServer {
  readonly repository: string
  readonly person: string
  readonly installation: string
  /** A login without a role in the repository. */
  readonly outsider: string
  readonly pull: number
  readonly head: string
  readonly ask: AuthenticatedRequestSender
  /** The webhooks that emulate has sent so far. */
  readonly deliveries: readonly EmulatorWebhookDelivery[]
}

export interface EmulatorWorkaround {
  readonly name: string
  readonly sentence: string
  /** Whether emulate alone still has it. */
  isThere(bare: UnpatchedEmulatorServer): Promise<boolean>
  /** Responds in place of emulate. */
  answer?(question: EmulatorRequest): Promise<EmulatorResponse | undefined>
  /** Changes emulate's response; undefined if there is nothing to change. */
  amend?(question: EmulatorRequest, answer: EmulatorResponse): Promise<unknown>
  /** Changes a webhook. */
  deliver?(delivery: EmulatorWebhookDelivery): EmulatorWebhookDelivery | undefined
  /** Called after git accepted a push to this repository. Resolves with true if the gap was needed. */
  pushed?(repository: string): Promise<boolean>
}

type JsonFields = Record<string, unknown>

export function createEmulatorWorkarounds(context: EmulatorWorkaroundContext): EmulatorWorkaround[] {
  return [
    createGitTransportWorkaround(),
    createForkContentWorkaround(context),
    createInstallationReposWorkaround(context),
    createCheckRunAppWorkaround(context),
    createCommentAppWorkaround(context),
    createPullRefsWorkaround(context),
    createOutsiderRoleWorkaround(context),
    createMergedByPushWorkaround(context),
    createDeliveryIdWorkaround(),
  ]
}

function createGitTransportWorkaround(): EmulatorWorkaround {
  return {
    name: 'no git',
    sentence:
      'It serves no git: repositories are served beside it, and it is told of every push (served-git.ts).',
    isThere: async ({ ask, repository }) =>
      (await ask('', 'GET', `/${repository}.git/info/refs?service=git-upload-pack`)).status === 404,
  }
}

function createForkContentWorkaround({ git, ask }: EmulatorWorkaroundContext): EmulatorWorkaround {
  return {
    name: 'the content of a fork',
    sentence: 'A fork begins with a commit of its own instead of the branches of what was forked.',
    async isThere({ ask, repository, person }) {
      const main = async (name: string) => {
        const { data } = await ask(person, 'GET', `/repos/${name}/git/ref/heads/main`)
        return (data as { object: { sha: string } }).object.sha
      }
      const { data } = await ask(person, 'POST', `/repos/${repository}/forks`, { name: 'probe' })
      return (await main((data as { full_name: string }).full_name)) !== (await main(repository))
    },
    async amend({ method, path, token }, { status, data }) {
      const [, from] = /^\/repos\/([^/]+\/[^/]+)\/forks$/.exec(path) ?? []
      if (method !== 'POST' || status !== 202 || from === undefined) return undefined
      const to = (data as { full_name: string }).full_name
      await git.fork(from, to)
      const tip = (await git.git(to, ['rev-parse', 'main'])).trim()
      await git.announceCommits(to, token, tip, [])
      await ask(token, 'PATCH', `/repos/${to}/git/refs/heads/main`, { sha: tip, force: true })
      return data
    },
  }
}

function createInstallationReposWorkaround({
  organization,
  ask,
  administratorToken,
}: EmulatorWorkaroundContext): EmulatorWorkaround {
  return {
    name: 'repositories of an installation',
    sentence: 'An installation cannot ask which repositories it is installed on.',
    isThere: async ({ ask, installation }) =>
      (await ask(installation, 'GET', '/installation/repositories')).status === 404,
    async answer({ method, path }) {
      if (method !== 'GET' || !path.startsWith('/installation/repositories')) return undefined
      const { data } = await ask(
        administratorToken,
        'GET',
        `/search/repositories?q=${encodeURIComponent(`org:${organization}`)}`,
      )
      const repositories = (data as { items: readonly unknown[] }).items
      return { status: 200, data: { total_count: repositories.length, repositories } }
    },
  }
}

function createCheckRunAppWorkaround({ appId }: EmulatorWorkaroundContext): EmulatorWorkaround {
  const makers = new Map<number, number>()
  const named = (run: JsonFields): JsonFields => {
    const app = makers.get(Number(run['id']))
    return app === undefined ? run : { ...run, app: { id: app, slug: 'catalog-bot' } }
  }
  return {
    name: 'the App of a check run',
    sentence: 'A check run does not say which App made it.',
    async isThere({ ask, installation, repository, head }) {
      const run = { name: 'probe', head_sha: head, status: 'in_progress' }
      const { data } = await ask(installation, 'POST', `/repos/${repository}/check-runs`, run)
      return (data as JsonFields)['app'] === null
    },
    async amend({ method, path, token }, { status, data }) {
      if (status >= 300 || !/\/check-runs(\/\d+)?(\?|$)/.test(path)) return undefined
      const body = data as JsonFields
      if (method === 'POST' && token.startsWith('ghs_')) makers.set(Number(body['id']), appId)
      const runs = body['check_runs']
      return Array.isArray(runs) ? { ...body, check_runs: (runs as JsonFields[]).map(named) } : named(body)
    },
  }
}

function createCommentAppWorkaround({ appId }: EmulatorWorkaroundContext): EmulatorWorkaround {
  const own = new Set<number>()
  const named = (comment: JsonFields): JsonFields =>
    own.has(Number(comment['id'])) ? { ...comment, performed_via_github_app: { id: appId } } : comment
  return {
    name: 'the App of a comment',
    sentence: 'A comment does not say which App wrote it.',
    async isThere({ ask, installation, repository, pull }) {
      const path = `/repos/${repository}/issues/${pull}/comments`
      const { data } = await ask(installation, 'POST', path, { body: 'probe' })
      return ((data as JsonFields)['performed_via_github_app'] ?? null) === null
    },
    async amend({ method, path, token }, { status, data }) {
      if (status >= 300 || !/\/issues\/(\d+\/comments|comments\/\d+)(\?|$)/.test(path)) return undefined
      if (method === 'POST' && token.startsWith('ghs_')) own.add(Number((data as JsonFields)['id']))
      return Array.isArray(data) ? (data as JsonFields[]).map(named) : named(data as JsonFields)
    },
  }
}

interface PullResponseFields {
  readonly number: number
  readonly head: { readonly sha: string; readonly repo: { readonly full_name: string } }
  readonly base: { readonly ref: string; readonly repo: { readonly full_name: string } }
}

function createPullRefsWorkaround({
  git,
  ask,
  administratorToken,
}: EmulatorWorkaroundContext): EmulatorWorkaround {
  return {
    name: 'the head of a pull request from a fork',
    sentence:
      "The repository that a pull request is for knows nothing of the fork's commits; at GitHub they are there, under refs/pull/N/head.",
    async isThere({ ask, repository, installation, pull }) {
      const { status } = await ask(installation, 'GET', `/repos/${repository}/git/ref/pull/${pull}/head`)
      return status === 404
    },
    async amend({ method, path }, { status, data }) {
      if (method !== 'POST' || status !== 201 || !/^\/repos\/[^/]+\/[^/]+\/pulls$/.test(path))
        return undefined
      const { number, head, base } = data as PullResponseFields
      const [to, from] = [base.repo.full_name, head.repo.full_name]
      const known = (await git.git(to, ['for-each-ref', '--format=%(objectname)']))
        .split('\n')
        .filter(Boolean)
      await git.git(to, [
        'fetch',
        '--quiet',
        `${git.root}/${from}.git`,
        `${head.sha}:refs/pull/${number}/head`,
      ])
      await git.announceCommits(to, administratorToken, head.sha, known)
      const ref = { ref: `refs/pull/${number}/head`, sha: head.sha }
      await ask(administratorToken, 'POST', `/repos/${to}/git/refs`, ref)
      return data
    },
  }
}

function createMergedByPushWorkaround({
  git,
  ask,
  administratorToken,
}: EmulatorWorkaroundContext): EmulatorWorkaround {
  const merged = new Map<string, { readonly at: string; readonly sha: string }>()
  const named = (pull: PullResponseFields & JsonFields): JsonFields => {
    const how = merged.get(`${pull.base.repo.full_name}#${pull.number}`)
    return how === undefined
      ? pull
      : { ...pull, merged: true, merged_at: how.at, merge_commit_sha: how.sha, mergeable: null }
  }
  return {
    name: 'merged by a push',
    sentence: 'A pull request whose head reached its base by a push stays open.',
    async isThere({ ask, person, repository }) {
      const path = `/repos/${repository}`
      const { data } = await ask(person, 'GET', `${path}/git/ref/heads/main`)
      const tip = (data as { object: { sha: string } }).object.sha
      const commit = (await ask(person, 'GET', `${path}/git/commits/${tip}`)).data as {
        tree: { sha: string }
      }
      const next = { message: 'probe', tree: commit.tree.sha, parents: [tip] }
      const { sha } = (await ask(person, 'POST', `${path}/git/commits`, next)).data as { sha: string }
      await ask(person, 'POST', `${path}/git/refs`, { ref: 'refs/heads/probe', sha })
      const opened = { title: 'probe', head: 'probe', base: 'main' }
      const pull = (await ask(person, 'POST', `${path}/pulls`, opened)).data as { number: number }
      await ask(person, 'PATCH', `${path}/git/refs/heads/main`, { sha })
      const after = (await ask(person, 'GET', `${path}/pulls/${pull.number}`)).data as { state: string }
      return after.state === 'open'
    },
    async pushed(repository) {
      const { data } = await ask(administratorToken, 'GET', `/repos/${repository}/pulls?per_page=100`)
      if (!Array.isArray(data)) return false
      let any = false
      for (const { number, head, base } of data as readonly PullResponseFields[]) {
        const tip = (await git.git(repository, ['rev-parse', `refs/heads/${base.ref}`])).trim()
        const is = await git.git(repository, ['merge-base', '--is-ancestor', head.sha, tip]).then(
          () => true,
          () => false,
        )
        if (!is) continue
        any = true
        merged.set(`${repository}#${number}`, { at: new Date().toISOString(), sha: tip })
        await ask(administratorToken, 'PATCH', `/repos/${repository}/pulls/${number}`, { state: 'closed' })
      }
      return any
    },
    async amend({ path }, { status, data }) {
      if (status >= 300 || !/\/pulls(\/\d+)?(\?|$)/.test(path)) return undefined
      const pulls = (Array.isArray(data) ? data : [data]) as (PullResponseFields & JsonFields)[]
      const now = pulls.map(named)
      if (now.every((pull, at) => pull === pulls[at])) return undefined
      return Array.isArray(data) ? now : now[0]
    },
  }
}

function createOutsiderRoleWorkaround({ ask }: EmulatorWorkaroundContext): EmulatorWorkaround {
  const isRoleRequest = ({ method, path }: EmulatorRequest) =>
    method === 'GET' && /\/collaborators\/[^/]+\/permission$/.test(path)
  return {
    name: 'the role of an outsider',
    sentence:
      'Asked for the role of somebody who has none, it answers 404; GitHub says `read` of a public repository.',
    isThere: async ({ ask, repository, installation, outsider }) =>
      (await ask(installation, 'GET', `/repos/${repository}/collaborators/${outsider}/permission`)).status ===
      404,
    async answer(question) {
      if (!isRoleRequest(question)) return undefined
      const { token, path } = question
      const [, login = ''] = /\/collaborators\/([^/]+)\//.exec(path) ?? []
      const known = await ask(token, 'GET', path)
      const user = await ask(token, 'GET', `/users/${login}`)
      if (known.status !== 404 || user.status !== 200) return undefined
      return { status: 200, data: { permission: 'read', role_name: 'read', user: user.data } }
    },
  }
}

function createDeliveryIdWorkaround(): EmulatorWorkaround {
  return {
    name: 'names of deliveries',
    sentence:
      'A webhook is named by the millisecond in which it is sent: two can have one name, and none is a GUID.',
    isThere: async ({ deliveries }) =>
      deliveries.length > 0 && deliveries.every(({ id }) => /^\d+$/.test(id)),
    deliver: (delivery) => ({ ...delivery, id: randomUUID() }),
  }
}
