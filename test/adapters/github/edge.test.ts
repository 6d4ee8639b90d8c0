// Requests to GitHub on the wire, and responses that our sandbox does not give: old servers and rejections.
import { describe, expect, jest, test } from '@jest/globals'
import { Octokit } from '@octokit/rest'
import nock from 'nock'
import pino from 'pino'
import { generatePrivateKey } from '../../../sandbox/github/github-admin.ts'
import { systemClock } from '../../../src/adapters/system-clock.ts'
import { toForgeError } from '../../../src/adapters/github/forge-error.ts'
import { githubApiVersion, toParsedResponse } from '../../../src/adapters/github/github-fetch.ts'
import { GitHubForge } from '../../../src/adapters/github/forge.ts'
import { GitHubApp } from '../../../src/adapters/github/github-app.ts'
import { readBranchRules } from '../../../src/adapters/github/read-branch-rules.ts'
import { blockUnmockedRequests } from './block-unmocked-requests.ts'

const githubHost = 'https://github.example'
const apiBaseUrl = `${githubHost}/api/v3`
const repository = { owner: 'acme', name: 'catalog' }
const repositoryApiPath = '/api/v3/repos/acme/catalog'
const privateKey = generatePrivateKey()

blockUnmockedRequests()

function createTestGitHubApp() {
  const log = pino({ level: 'silent' })
  const warned = jest.spyOn(log, 'warn')
  const app = new GitHubApp({
    appId: 5,
    privateKey,
    webhookSecret: 'x',
    apiUrl: apiBaseUrl,
    throttle: false,
    clock: systemClock,
    log,
  })
  return { app, warned }
}

const installationTokenResponse = {
  token: 'ghs_x',
  expires_at: '2999-01-01T00:00:00Z',
  permissions: {},
  repository_selection: 'all',
}
const unsupportedApiVersionResponse = {
  message: `The version you specified in the "X-GitHub-API-Version" request header, "${githubApiVersion}", is not a supported version. The following versions are currently supported: none.`,
}

describe('the version of the REST API', () => {
  test('is sent with every request, including token requests', async () => {
    const versioned = nock(githubHost, { reqheaders: { 'x-github-api-version': '2022-11-28' } })
    versioned.post('/api/v3/app/installations/9/access_tokens').reply(201, installationTokenResponse)
    versioned.get(`${repositoryApiPath}/branches?per_page=100`).reply(200, [])
    versioned.post('/api/graphql').reply(200, { data: { viewer: null } })
    const { app, warned } = createTestGitHubApp()
    const octokit = await app.octokit(9)
    expect(await new GitHubForge(octokit, repository, app).branches()).toEqual([])
    await octokit.graphql('{ viewer { login } }')
    expect(warned).not.toHaveBeenCalled()
  })

  test('is omitted with a warning if the server does not support it', async () => {
    const versioned = nock(githubHost, { reqheaders: { 'x-github-api-version': '2022-11-28' } })
    versioned.post('/api/v3/app/installations/9/access_tokens').reply(400, unsupportedApiVersionResponse)
    // This request was built before the response to the first one arrived.
    versioned.get(`${repositoryApiPath}/branches?per_page=100`).reply(400, unsupportedApiVersionResponse)
    const plain = nock(githubHost, { badheaders: ['x-github-api-version'] })
    plain.post('/api/v3/app/installations/9/access_tokens').reply(201, installationTokenResponse)
    plain.get(`${repositoryApiPath}/branches?per_page=100`).twice().reply(200, [])
    const { app, warned } = createTestGitHubApp()
    const forge = new GitHubForge(await app.octokit(9), repository, app)
    await forge.branches()
    await forge.branches()
    expect(warned.mock.calls.map(([word]) => word)).toEqual([
      'this GitHub server does not support REST API version 2022-11-28; catalog-bot sends requests without a version',
    ])
  })

  test('does not cause a repeated write', async () => {
    nock(githubHost).post('/api/v3/app/installations/9/access_tokens').reply(201, installationTokenResponse)
    nock(githubHost).post(`${repositoryApiPath}/dispatches`).reply(400, unsupportedApiVersionResponse)
    const { app } = createTestGitHubApp()
    const forge = new GitHubForge(await app.octokit(9), repository, app)
    const dispatch = forge.perform({ kind: 'dispatch-event', event: 'x', payload: {} })
    await expect(dispatch).rejects.toMatchObject({ code: 'rejected' })
  })
})

describe('a successful response with another document', () => {
  const wrongBodies = [{}, [], null, 'ok', { message: 'ok' }] as const
  const parse = (path: string, body: unknown) =>
    toParsedResponse(
      { status: 200, url: `${apiBaseUrl}${path}`, headers: new Headers() },
      JSON.stringify(body),
    )

  test('instead of a repository is requested again, and not cached', async () => {
    nock(githubHost).post('/api/v3/app/installations/9/access_tokens').reply(201, installationTokenResponse)
    const { app } = createTestGitHubApp()
    const forge = new GitHubForge(await app.octokit(9), repository, app)
    nock(githubHost).get(repositoryApiPath).reply(200, {}, { etag: '"1"' })
    nock(githubHost, { badheaders: ['if-none-match'] })
      .get(repositoryApiPath)
      .reply(200, { default_branch: 'main' })
    expect(await forge.defaultBranch()).toBe('main')
  })

  test.each(wrongBodies)('%j is not a response', (body) => {
    for (const path of ['', '/pulls/7', '/git/ref/heads/main', '/commits/main/check-runs'])
      expect(() => parse(`/repos/acme/catalog${path}`, body)).toThrow(SyntaxError)
  })

  test.each([{}, null, [null], ['main'], { message: 'ok' }])('%j is not a list', (body) => {
    for (const list of ['branches', 'pulls', 'pulls/7/reviews', 'issues/7/comments'])
      expect(() => parse(`/repos/acme/catalog/${list}`, body)).toThrow(SyntaxError)
  })

  test('is a temporary failure of GitHub', () => {
    const failures = [
      Object.assign(new Error('x'), { status: 500, cause: new SyntaxError('x') }),
      new TypeError("Cannot read properties of undefined (reading 'ref')"),
    ]
    for (const failure of failures)
      expect(toForgeError(failure, 'read it')).toMatchObject({
        code: 'unavailable',
        message: 'could not read it: the response is not a valid response of GitHub',
      })
  })
})

describe('the rules of a branch', () => {
  const octokit = new Octokit({ baseUrl: apiBaseUrl, log: { debug() {}, info() {}, warn() {}, error() {} } })
  const read = (isApp = true) => readBranchRules(octokit, repository, 'rel/1', { app: 5, isApp })

  const settings = { owner: { type: 'Organization' }, allow_merge_commit: true, allow_squash_merge: true, allow_rebase_merge: false } // prettier-ignore
  const branch = (protection: unknown, isProtected = true) => ({
    name: 'rel/1',
    protected: isProtected,
    protection,
  })
  const scope = () => nock(githubHost).get(repositoryApiPath).reply(200, settings)
  const rulesOf = (name: string, page = 1) =>
    `${repositoryApiPath}/rules/branches/${encodeURIComponent(name)}?per_page=100&page=${page}`
  const temporary = 'catalog-bot/tmp-0'
  const here = `${repositoryApiPath}/branches/rel%2F1`

  type Reply = readonly [status: number, body: nock.Body, headers?: nock.ReplyHeaders]
  const noRules: Reply = [200, []]
  /** GitHub's replies to one reading. There are no rules, except these. */
  function replyWith(replies: {
    readonly rules?: Reply
    readonly temporaryRules?: Reply
    readonly branch: nock.Body
    readonly protection?: Reply
  }): nock.Scope {
    const { rules = noRules, temporaryRules = noRules, protection } = replies
    const replied = scope()
      .get(rulesOf('rel/1'))
      .reply(...rules)
      .get(rulesOf(temporary))
      .reply(...temporaryRules)
      .get(here)
      .reply(200, replies.branch)
    return protection === undefined ? replied : replied.get(`${here}/protection`).reply(...protection)
  }

  test('are read to the last page, and each ruleset is requested once', async () => {
    const rule = (context: string) => ({
      type: 'required_status_checks',
      parameters: { strict_required_status_checks_policy: false, required_status_checks: [{ context }] },
      ruleset_id: 3,
    })
    replyWith({
      rules: [200, [rule('a')], { link: `<${apiBaseUrl}/x?page=2>; rel="next"` }],
      branch: branch({ enabled: false }),
    })
      .get(rulesOf('rel/1', 2))
      .reply(200, [rule('b')])
      .get(`${repositoryApiPath}/rulesets/3`)
      .reply(200, { name: 'x', current_user_can_bypass: 'never' })
    expect(await read()).toMatchObject({
      checks: { required: [{ name: 'a' }, { name: 'b' }] },
      mergeMethods: ['merge', 'squash'],
      unread: [],
    })
  })

  test('of a server without rulesets come from branch protection, and the gap is reported', async () => {
    const required_status_checks = { enforcement_level: 'everyone', contexts: ['ci'] }
    replyWith({
      rules: [404, { message: 'Not Found' }],
      temporaryRules: [404, { message: 'Not Found' }],
      branch: branch({ enabled: true, required_status_checks }),
      protection: [200, { required_status_checks: { strict: true, contexts: ['ci'] } }],
    })
    expect(await read()).toMatchObject({
      checks: { required: [{ name: 'ci' }], strict: true },
      unread: [
        'the branch rulesets cannot be read (this GitHub server does not support or expose this information)',
      ],
    })
  })

  test("apply if the App's bypass permission is unknown, and the gap is reported", async () => {
    const rules = [
      { type: 'update', ruleset_id: 3 },
      { type: 'required_signatures', ruleset_id: 4 },
    ]
    replyWith({ rules: [200, rules], branch: branch(undefined, false) })
      .get(`${repositoryApiPath}/rulesets/3`)
      .reply(403, { message: 'Resource not accessible by integration' })
      .get(`${repositoryApiPath}/rulesets/4`)
      .reply(200, { name: 'x' })
    expect(await read()).toMatchObject({
      closedToUs: true,
      signatures: true,
      unread: [
        "the App's bypass permission for ruleset 3 cannot be read (GitHub denied access)",
        "GitHub does not report the App's bypass permission for ruleset 4",
      ],
    })
  })

  test('that differ from the documentation are reported, not omitted', async () => {
    const rules = [
      { type: 'brand_new' },
      { type: 'pull_request', parameters: { required_approving_review_count: '1' } },
      { type: 'required_status_checks' },
      { type: 'merge_queue' },
    ]
    replyWith({
      rules: [200, rules],
      temporaryRules: [200, { odd: true }],
      branch: branch({ enabled: true }),
      protection: [200, { required_linear_history: { enabled: true }, brand_new_too: { enabled: true } }],
    })
    expect(await read()).toMatchObject({
      others: ['brand_new', 'brand_new_too', 'pull_request', 'required_status_checks'],
      mergeQueue: true,
      linearHistory: true,
      unread: ['the branch rulesets are not in the format that GitHub documents'],
    })
  })

  test("that the owner's plan does not include are empty", async () => {
    const upgrade: Reply = [
      403,
      { message: 'Upgrade to GitHub Pro or make this repository public to enable this feature.' },
    ]
    replyWith({ rules: upgrade, temporaryRules: upgrade, branch: branch(undefined), protection: upgrade })
    expect(await read()).toMatchObject({ others: [], unread: [] })
  })

  test('without a branch protection have no gap', async () => {
    replyWith({ branch: branch(undefined), protection: [404, { message: 'Branch not protected' }] })
    expect((await read()).unread).toEqual([])
  })

  test.each([
    [200, { data: { repository: { ref: { refUpdateRule: null } } } }],
    [200, { errors: [{ message: "Field 'refUpdateRule' doesn't exist on type 'Ref'" }] }],
    [502, {}],
  ])(
    'under a protection that is also hidden from GraphQL (%s) are reported as unread',
    async (status, answer) => {
      replyWith({ branch: branch({ enabled: true }), protection: [404, { message: 'Not Found' }] })
        .post('/api/graphql')
        .reply(status, answer)
      expect((await read()).unread).toEqual([expect.stringContaining('administration: read')])
    },
  )

  test.each([
    [502, 'unavailable'],
    [401, 'unauthorized'],
    [429, 'rate-limited'],
  ])('are not guessed when GitHub answers %s', async (status, code) => {
    scope().get(rulesOf('rel/1')).reply(status, {})
    await expect(read()).rejects.toMatchObject({ code })
  })

  test('are not guessed when the repository does not exist', async () => {
    nock(githubHost).get(repositoryApiPath).reply(404, { message: 'Not Found' })
    await expect(read()).rejects.toMatchObject({ code: 'not-found' })
  })
})
